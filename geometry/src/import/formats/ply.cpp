// SPDX-License-Identifier: Apache-2.0
// The format is that of Greg Turk's "The PLY Polygon File Format" (Stanford, 1994).
#include "ply.h"

#include <raylift/geometry/error.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>

#include "base/parse_number.h"
#include "polygon_reader.h"

namespace raylift::imported {
namespace {

enum class Type : std::uint8_t { i8, u8, i16, u16, i32, u32, f32, f64 };
struct TypeName {
  std::string_view name, other;
  std::size_t bytes;
};
constexpr std::array kTypes{TypeName{"char", "int8", 1},     TypeName{"uchar", "uint8", 1},
                            TypeName{"short", "int16", 2},   TypeName{"ushort", "uint16", 2},
                            TypeName{"int", "int32", 4},     TypeName{"uint", "uint32", 4},
                            TypeName{"float", "float32", 4}, TypeName{"double", "float64", 8}};

std::size_t size_of(Type type) {
  return kTypes[static_cast<std::size_t>(type)].bytes;
}

struct Property {
  std::string name;
  Type type = Type::f32;
  std::optional<Type> count;  // of a list
};
struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

class Ply {
 public:
  Ply(std::string_view bytes, const std::string& file, const LoadOptions& options, Document& document)
      : bytes_(bytes),
        text_(bytes, file),
        file_(file),
        polygons_(file, options, document.scene.report),
        document_(document) {}

  void read() {
    read_header();
    const auto vertex = find("vertex");
    if (vertex == elements_.end()) fail("the header states no element 'vertex'");
    vertices_ = vertex->count;
    for (const Element& element : elements_) {
      element_ = &element;
      check_room(element);
      if (element.name == "vertex")
        read_vertices(element);
      else if (element.name == "face")
        read_faces(element);
      else if (element.name == "tristrips")
        read_strips(element);
      else
        for (row_ = 0; row_ != element.count; ++row_) skip_row(element);
    }
    const std::size_t rest = ascii_ ? trimmed(text_.rest()).size() : bytes_.size();
    if (rest != 0)
      document_.scene.report.warnings.push_back(std::to_string(rest) + " bytes behind the last element are not read");
    if (primitive_.corners.empty()) return;
    geometry_.primitives.push_back(std::move(primitive_));
    add_solid(document_, {}, std::move(geometry_), {kNone});
  }

 private:
  [[noreturn]] void fail(const std::string& problem, std::string_view advice = {}) const {
    throw Error(ErrorKind::malformed, problem, {file_, where()}, advice);
  }
  [[noreturn]] void fail_cut_off() const {
    fail("the file ends within this element", "it may have been cut off; export it again");
  }
  [[nodiscard]] std::string where() const {
    if (element_ != nullptr) return element_->name + " " + std::to_string(row_);
    return "line " + std::to_string(text_.line());
  }
  [[nodiscard]] std::vector<Element>::const_iterator find(std::string_view name) const {
    return std::find_if(elements_.begin(), elements_.end(), [&](const Element& one) { return one.name == name; });
  }

  // The header -------------------------------------------------------------------------------------------------------

  Type type_of(std::string_view word) const {
    const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                    [&](const TypeName& type) { return type.name == word || type.other == word; });
    if (found == kTypes.end()) text_.fail(in_quotes(word) + " is no type of PLY");
    return static_cast<Type>(found - kTypes.begin());
  }

  void read_header() {
    if (trimmed(text_.next_line()) != "ply") text_.fail("no PLY: the first line is not 'ply'");
    bool has_format = false;
    for (;;) {
      if (text_.at_end())
        text_.fail("the header has no 'end_header'", "the file may have been cut off; export it again");
      std::string_view line = text_.next_line();
      const std::string_view keyword = take_word(line);
      if (keyword == "end_header") break;
      if (keyword == "format")
        has_format = read_format(line);
      else if (keyword == "element")
        read_element(line);
      else if (keyword == "property")
        read_property(line);
      else if (!keyword.empty() && keyword != "comment" && keyword != "obj_info")
        document_.scene.report.warnings.push_back(where() + ": " + in_quotes(keyword) +
                                                  " is no keyword of a header of PLY, and not looked at");
    }
    if (!has_format) text_.fail("the header states no format");
    // Where lines end by \r alone, a \n behind the last of them is data.
    const bool by_return = bytes_.starts_with("ply\r") && !bytes_.starts_with("ply\r\n");
    const std::size_t read = bytes_.size() - text_.rest().size();
    bytes_.remove_prefix(read - (by_return && bytes_[read - 1] == '\n' ? 1 : 0));
  }

  bool read_format(std::string_view line) {
    const std::string_view name = take_word(line), version = take_word(line);
    if (name != "ascii" && name != "binary_little_endian" && name != "binary_big_endian")
      text_.fail(in_quotes(name) + " is no format of PLY");
    if (version != "1.0") text_.fail("version " + in_quotes(version) + " of PLY is not read");
    ascii_ = name == "ascii";
    swap_ = name == "binary_big_endian";
    return true;
  }

  void read_element(std::string_view line) {
    const std::string_view name = take_word(line), count = take_word(line);
    const std::optional<std::uint64_t> number = base::parse_number<std::uint64_t>(count);
    if (!number) text_.fail(in_quotes(count) + " is no number of elements");
    if (find(name) != elements_.end()) text_.fail("the element " + in_quotes(name) + " occurs twice");
    elements_.push_back({std::string(name), *number, {}});
  }

  void read_property(std::string_view line) {
    if (elements_.empty()) text_.fail("a property before the first element");
    Property property;
    std::string_view type = take_word(line);
    if (type == "list") {
      property.count = type_of(take_word(line));
      if (*property.count == Type::f32 || *property.count == Type::f64)
        text_.fail("the number of a list's elements is no integer");
      type = take_word(line);
    }
    property.type = type_of(type);
    property.name = take_word(line);
    elements_.back().properties.push_back(std::move(property));
  }

  // Values -----------------------------------------------------------------------------------------------------------

  /// Refuses counts that the rest of the file has no room for, before memory is taken for them.
  void check_room(const Element& element) const {
    std::uint64_t least = 0;  // bytes of a row
    for (const Property& property : element.properties)
      least += ascii_ ? 2 : size_of(property.count.value_or(property.type));
    const std::uint64_t room = ascii_ ? text_.rest().size() + 1 : bytes_.size();
    if (least != 0 && element.count > room / least)
      throw Error(ErrorKind::malformed,
                  "the header states " + std::to_string(element.count) + " rows, and the file has room for " +
                      std::to_string(room / least) + " at most",
                  {file_, "element " + element.name}, "it may have been cut off; export it again");
  }

  template <class T>
  T take() {
    if (bytes_.size() < sizeof(T)) fail_cut_off();
    std::array<char, sizeof(T)> raw;
    std::copy_n(bytes_.data(), sizeof(T), raw.begin());
    if (swap_) std::reverse(raw.begin(), raw.end());
    bytes_.remove_prefix(sizeof(T));
    return std::bit_cast<T>(raw);
  }

  std::string_view word() {
    const std::string_view next = text_.next_word();
    if (next.empty()) fail_cut_off();
    return next;
  }

  /// A coordinate, rounded once.
  float coordinate(Type type) {
    if (ascii_) return text_.next_float();
    switch (type) {
      case Type::f32:
        return take<float>();
      case Type::f64:
        return static_cast<float>(take<double>());
      default:
        return static_cast<float>(integer(type));
    }
  }

  std::int64_t integer(Type type) {
    if (ascii_) {
      const std::string_view next = word();
      const std::optional<std::int64_t> value = base::parse_number<std::int64_t>(base::without_plus(next));
      if (!value) fail(in_quotes(next) + " is no integer");
      return *value;
    }
    switch (type) {
      case Type::i8:
        return take<std::int8_t>();
      case Type::u8:
        return take<std::uint8_t>();
      case Type::i16:
        return take<std::int16_t>();
      case Type::u16:
        return take<std::uint16_t>();
      case Type::i32:
        return take<std::int32_t>();
      case Type::u32:
        return take<std::uint32_t>();
      default:
        fail("an index is stored as a real number");
    }
  }

  void skip(std::uint64_t count, Type type) {
    if (ascii_) {
      for (std::uint64_t i = 0; i != count; ++i) (void)word();
    } else {
      if (bytes_.size() / size_of(type) < count) fail_cut_off();
      bytes_.remove_prefix(count * size_of(type));
    }
  }

  std::uint64_t list_size(const Property& property) {
    const std::int64_t size = integer(*property.count);
    if (size < 0) fail("a list has " + std::to_string(size) + " elements");
    return static_cast<std::uint64_t>(size);
  }

  void skip(const Property& property) { skip(property.count ? list_size(property) : 1, property.type); }
  void skip_row(const Element& element) {
    if (element.properties.empty()) row_ = element.count - 1;
    for (const Property& property : element.properties) skip(property);
  }

  void read_vertices(const Element& element) {
    constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};
    std::vector<std::size_t> axes(element.properties.size(), kAxes.size());
    for (std::size_t axis = 0; axis != kAxes.size(); ++axis) {
      const auto found = std::find_if(element.properties.begin(), element.properties.end(),
                                      [&](const Property& one) { return one.name == kAxes[axis] && !one.count; });
      if (found == element.properties.end())
        throw Error(ErrorKind::malformed, "the vertices have no " + std::string(kAxes[axis]),
                    {file_, "element vertex"});
      axes[static_cast<std::size_t>(found - element.properties.begin())] = axis;
    }
    check_vertex_count(element.count, file_);
    Positions& positions = geometry_.positions;
    positions.count = element.count;
    positions.numbers.resize(3 * element.count);
    for (row_ = 0; row_ != element.count; ++row_)
      for (std::size_t i = 0; i != axes.size(); ++i)
        if (axes[i] == kAxes.size())
          skip(element.properties[i]);
        else
          positions.numbers[3 * row_ + axes[i]] = coordinate(element.properties[i].type);
  }

  /// The number of the property that lists vertices.
  [[nodiscard]] std::size_t list_of(const Element& element) const {
    for (std::size_t i = 0; i != element.properties.size(); ++i) {
      const Property& property = element.properties[i];
      if (property.count && (property.name == "vertex_indices" || property.name == "vertex_index")) return i;
    }
    throw Error(ErrorKind::malformed, "the element has no list 'vertex_indices'", {file_, "element " + element.name});
  }

  void read_list(const Property& property) {
    const std::uint64_t size = list_size(property);
    if (size > (ascii_ ? text_.rest().size() : bytes_.size()))
      fail("the list states " + std::to_string(size) + " elements, more than the file has bytes left");
    list_.resize(size);
    for (std::int64_t& one : list_) one = integer(property.type);
  }

  /// Calls use() for each row, with its list of vertices in list_.
  template <class Use>
  void each_list(const Element& element, const Use& use) {
    if (element.count == 0) return;
    const std::size_t list = list_of(element);
    for (row_ = 0; row_ != element.count; ++row_)
      for (std::size_t i = 0; i != element.properties.size(); ++i) {
        if (i != list) {
          skip(element.properties[i]);
          continue;
        }
        read_list(element.properties[i]);
        use();
      }
  }

  void read_faces(const Element& element) {
    each_list(element, [this] {
      corners_.assign(list_.begin(), list_.end());  // a negative index is out of range
      add();
    });
  }

  /// Strips follow one another, with -1 between them; the winding alternates.
  void read_strips(const Element& element) {
    each_list(element, [this] {
      std::size_t begin = 0;
      for (std::size_t end = 0; end != list_.size(); ++end) {
        if (list_[end] == -1) begin = end + 1;
        if (end < begin + 2 || list_[end] == -1) continue;
        const bool odd = (end - begin) % 2 != 0;
        corners_.assign({static_cast<std::uint64_t>(list_[end - (odd ? 1 : 2)]),
                         static_cast<std::uint64_t>(list_[end - (odd ? 2 : 1)]),
                         static_cast<std::uint64_t>(list_[end])});
        add();
      }
    });
  }

  void add() {
    polygons_.add(primitive_, corners_, vertices_, [this] { return where(); });
  }

  std::string_view bytes_;  // binary: what has not been read
  TextReader text_;         // the header, and all of a text
  const std::string& file_;
  PolygonReader polygons_;
  Document& document_;
  bool ascii_ = false, swap_ = false;
  std::vector<Element> elements_;
  const Element* element_ = nullptr;  // that is read, for errors
  std::uint64_t row_ = 0;
  std::uint64_t vertices_ = 0;
  Geometry geometry_;
  Primitive primitive_;
  std::vector<std::int64_t> list_;
  std::vector<std::uint64_t> corners_;
};

}  // namespace

Document read_ply(const InputFile& input, const LoadOptions& options) {
  Document document = begin_document(input, "PLY", {}, options);
  const std::string file = input.path().string();
  const std::string bytes = read_bytes(input, options.limits);
  Ply(bytes, file, options, document).read();
  return document;
}

}  // namespace raylift::imported
