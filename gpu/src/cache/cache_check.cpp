// SPDX-License-Identifier: Apache-2.0
#include "cache_check.h"

#include <raylift/geometry/error.h>
#include <raylift/geometry/index.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>

#include "base/atomics.h"
#include "cache_files.h"

namespace raylift::detail {
namespace {

/// Finds the highest of the triangles' part numbers.
class PartCheck : public ArrayCheck {
 public:
  PartCheck(std::uint64_t count, Fail fail, std::atomic<std::uint16_t>& most)
      : ArrayCheck(sizeof(std::uint16_t), count, std::move(fail)), most_(most) {}

 private:
  void elements(std::uint64_t, std::uint64_t, std::uint64_t count, const std::byte* bytes) override {
    std::uint16_t most = 0;
    for (std::uint64_t i = 0; i != count; ++i) {
      std::uint16_t part = 0;
      std::memcpy(&part, bytes + i * sizeof part, sizeof part);
      most = std::max(most, part);
    }
    base::atomic_max(most_, most);
  }
  std::atomic<std::uint16_t>& most_;
};

/// A bit for each of many elements, set from several threads.
class Bits {
 public:
  explicit Bits(std::uint64_t count) : words_((count + 63) / 64) {}
  /// Sets bits from `first` on, `count` of them, to is_set(i) for i < count.
  template <class IsSet>
  void set(std::uint64_t first, std::uint64_t count, const IsSet& is_set) {
    for (std::uint64_t i = 0; i != count;) {
      const std::uint64_t at = first + i;
      const std::uint64_t end = std::min(count, i + 64 - at % 64);
      std::uint64_t word = 0;
      for (std::uint64_t bit = at % 64; i != end; ++i, ++bit) word |= std::uint64_t{is_set(i)} << bit;
      // Neighbouring runs share words.
      std::atomic_ref(words_[at / 64]).fetch_or(word, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] bool within(const Bits& other) const {
    return std::equal(words_.begin(), words_.end(), other.words_.begin(),
                      [](std::uint64_t mine, std::uint64_t theirs) { return (mine & ~theirs) == 0; });
  }

 private:
  std::vector<std::uint64_t> words_;
};

/// Coordinates such as builders take, and which pairs have a second triangle that is only a line.
class PairCheck : public ArrayCheck {
 public:
  PairCheck(std::uint64_t count, Fail fail, Bits& single)
      : ArrayCheck(sizeof(bvh_detail::TrianglePair), count, std::move(fail)), single_(single) {}

 private:
  void elements(std::uint64_t, std::uint64_t first, std::uint64_t count, const std::byte* bytes) override {
    const auto word = [bytes](std::uint64_t i) {
      std::uint32_t value = 0;
      std::memcpy(&value, bytes + i * sizeof value, sizeof value);
      return value;
    };
    // Without their signs, floats compare as integers do, and those that are not finite are the largest: with what is
    // added here, those that are too large have the sign's bit.
    constexpr std::uint32_t kSign = 1U << 31;
    constexpr std::uint32_t kAdd = kSign - std::bit_cast<std::uint32_t>(kBvhFarthest);
    std::uint32_t all = 0;
    for (std::uint64_t i = 0; i != 12 * count; ++i) all |= (word(i) & ~kSign) + kAdd;
    if ((all & kSign) != 0) fail("a coordinate is not finite, or beyond 1e18");
    // Without branches, as they would be unpredictable.
    single_.set(first, count, [word](std::uint64_t i) {
      const std::uint64_t third = 12 * i + 6;
      return ((word(third) ^ word(third + 3)) | (word(third + 1) ^ word(third + 4)) |
              (word(third + 2) ^ word(third + 5))) == 0;
    });
  }
  Bits& single_;
};

/// Triangles' numbers, and which pairs have no second triangle.
class IdCheck : public ArrayCheck {
 public:
  IdCheck(std::uint64_t count, Fail fail, Bits& alone, std::uint64_t triangles)
      : ArrayCheck(sizeof(bvh_detail::PairIds), count, std::move(fail)), alone_(alone), triangles_(triangles) {}

 private:
  void elements(std::uint64_t, std::uint64_t first, std::uint64_t count, const std::byte* bytes) override {
    const auto id = [bytes](std::uint64_t pair, std::uint64_t which) {
      std::uint32_t number = 0;
      std::memcpy(&number, bytes + pair * sizeof(bvh_detail::PairIds) + which * sizeof number, sizeof number);
      return number;
    };
    bool right = true;
    for (std::uint64_t i = 0; i != count; ++i)
      right &= id(i, 0) >> 2 < triangles_ && (id(i, 1) >> 2 < triangles_ || id(i, 1) == kNoTriangle);
    if (!right) fail("a triangle's number is too large");
    alone_.set(first, count, [&](std::uint64_t i) { return id(i, 1) == kNoTriangle; });
  }
  Bits& alone_;
  std::uint64_t triangles_;
};

}  // namespace

ArrayCheck::ArrayCheck(std::size_t element_bytes, std::uint64_t count, Fail fail)
    : element_bytes_(element_bytes),
      blocks_((count * element_bytes + CacheFile::kBlockBytes - 1) / CacheFile::kBlockBytes),
      seams_(blocks_ == 0 ? 0 : (blocks_ - 1) * element_bytes),
      fail_(std::move(fail)) {}

void ArrayCheck::fail(const std::string& what) const {
  fail_(what);
  std::abort();  // it throws
}

void ArrayCheck::block(std::uint64_t number, std::span<const std::byte> bytes) {
  const std::uint64_t begin = number * CacheFile::kBlockBytes;
  const std::uint64_t first = (begin + element_bytes_ - 1) / element_bytes_;
  const std::uint64_t last = (begin + bytes.size()) / element_bytes_;
  // What belongs to the element that began in the block before, and to the one that goes on in the next one.
  const std::uint64_t head = std::min<std::uint64_t>(first * element_bytes_ - begin, bytes.size());
  if (head != 0)
    std::memcpy(seams_.data() + (number - 1) * element_bytes_ + (element_bytes_ - head), bytes.data(), head);
  const std::uint64_t tail = begin + bytes.size() - last * element_bytes_;
  if (tail != 0 && number + 1 < blocks_)
    std::memcpy(seams_.data() + number * element_bytes_, bytes.data() + (bytes.size() - tail), tail);
  if (last > first) elements(2 * number, first, last - first, bytes.data() + head);
}

void ArrayCheck::finish() {
  for (std::uint64_t block = 0; block + 1 < blocks_; ++block) {
    const std::uint64_t end = (block + 1) * CacheFile::kBlockBytes;
    if (end % element_bytes_ != 0)
      elements(2 * block + 1, end / element_bytes_, 1, seams_.data() + block * element_bytes_);
  }
  whole();
}

class CacheCheck::Impl {
 public:
  Impl(const CacheFile& file, bool bvh) : file_(file), bvh_(bvh), alone_(0), single_(0) {
    (void)cache_summary(file);  // throws where the description makes no sense
    count();
    expect_sizes();
    alone_ = Bits(counts_[ViewArray::pairs]);
    single_ = Bits(counts_[ViewArray::pairs]);
    solids_.resize(counts_[ViewArray::solids]);
    reach_.emplace(counts_[ViewArray::optical_buckets] / kTableEntries);
    for (std::size_t i = 0; i != checks_.size(); ++i)
      if (counts_.of[i]) checks_[i] = make(static_cast<ViewArray>(i));
  }

  void block(const CacheSection& section, std::uint64_t number, std::span<const std::byte> bytes) {
    const ViewArrayInfo* known = find_view_array(section.name);
    if (known == nullptr) return;
    if (const auto& check = checks_[static_cast<std::size_t>(known->array)]) check->block(number, bytes);
  }

  void finish() {
    for (const auto& check : checks_)
      if (check) check->finish();
    // An absent triangle has no extent, so that no ray meets it.
    if (!alone_.within(single_)) fail(ViewArray::pair_ids, "a triangle has no number");
    if (!counts_.flattened && std::uint64_t{first_material_} + most_part_ >= counts_[ViewArray::part_materials] &&
        counts_[ViewArray::triangles] != 0)
      fail(ViewArray::instances, "an instance's materials are not there");
    const bool nested = std::all_of(solids_.begin(), solids_.end(), [this](const Nested& solid) {
      return solid.mother == kNone ? solid.depth == 0 : solids_[solid.mother].depth + 1 == solid.depth;
    });
    if (!reach_->within(counts_[ViewArray::optical_rows]))
      fail(ViewArray::optical_rows, "a table's rows are not there");
    if (!nested) fail(ViewArray::solids, "a solid's depth is not one more than its mother's");
  }

 private:
  struct Nested {
    std::uint32_t mother, depth;
  };

  [[noreturn]] void fail(ViewArray array, const std::string& what) const {
    throw Error(ErrorKind::malformed, "the cache file's arrays make no sense: " + what,
                {file_.path().string(), "section '" + std::string(info(array).name) + "'"},
                "remove it; it will be made again");
  }

  void count() {
    for (const CacheSection& section : file_.sections()) {
      if (section.kind != CacheSection::Kind::array) continue;
      const ViewArrayInfo* known = find_view_array(section.name);
      if (known == nullptr || (known->presence == ViewArrayInfo::Presence::bvh && !bvh_)) continue;
      if (known->element_bytes != section.element_bytes) fail(known->array, "its elements have another size");
      if (section.count >= kNone) fail(known->array, "it has too many elements");
      counts_.of[static_cast<std::size_t>(known->array)] = section.count;
    }
    counts_.flattened = counts_.of[static_cast<std::size_t>(ViewArray::solid_ids)].has_value();
  }

  [[nodiscard]] bool has(ViewArray array) const { return counts_.of[static_cast<std::size_t>(array)].has_value(); }

  /// Whether the scene's file must have an array; nothing where it may.
  [[nodiscard]] std::optional<bool> expected(ViewArrayInfo::Presence presence, bool optics) const {
    switch (presence) {
      case ViewArrayInfo::Presence::always:
        return true;
      case ViewArrayInfo::Presence::bvh:
        return bvh_;
      case ViewArrayInfo::Presence::two_levels:
        return !counts_.flattened;
      case ViewArrayInfo::Presence::flattened:
        return counts_.flattened;
      case ViewArrayInfo::Presence::optics:
        return optics;
      case ViewArrayInfo::Presence::fine:
      case ViewArrayInfo::Presence::rests:
      case ViewArrayInfo::Presence::attribute:
        break;
    }
    return {};
  }

  /// The array that has as many elements as one of this extent; nothing where there is none.
  [[nodiscard]] std::optional<ViewArray> counted_by(ViewArrayInfo::Extent extent) const {
    switch (extent) {
      case ViewArrayInfo::Extent::vertex:
        return ViewArray::vertices;
      case ViewArrayInfo::Extent::triangle:
        return ViewArray::triangles;
      case ViewArrayInfo::Extent::pair:
        return ViewArray::pairs;
      case ViewArrayInfo::Extent::material:
        return ViewArray::material_colors;
      case ViewArrayInfo::Extent::solid:
        return ViewArray::solids;
      case ViewArrayInfo::Extent::instance:
        return counts_.flattened ? std::nullopt : std::optional(ViewArray::solids);
      case ViewArrayInfo::Extent::mesh:
      case ViewArrayInfo::Extent::other:
        break;
    }
    return {};
  }

  void expect_sizes() const {
    const bool optics = std::ranges::any_of(view_arrays(), [this](const ViewArrayInfo& row) {
      return row.presence == ViewArrayInfo::Presence::optics && has(row.array);
    });
    for (const ViewArrayInfo& row : view_arrays())
      if (expected(row.presence, optics).value_or(false) && !has(row.array)) fail(row.array, "it is missing");
    for (const ViewArrayInfo& row : view_arrays()) {
      if (!has(row.array)) continue;
      const std::uint64_t count = counts_[row.array];
      if (const auto same = counted_by(row.extent); same && count != counts_[*same])
        fail(row.array, "it has not as many elements as '" + std::string(info(*same).name) + "'");
      if (counts_.flattened &&
          (row.extent == ViewArrayInfo::Extent::mesh || row.extent == ViewArrayInfo::Extent::instance) && count != 1)
        fail(row.array, "a flattened scene has one");
    }
    if (optics) check_optical_sizes(counts_, [this](ViewArray array, const std::string& what) { fail(array, what); });
  }

  template <class T, class Look>
  std::unique_ptr<ArrayCheck> each(ViewArray array, const char* wrong, Look look) const {
    return std::make_unique<EachCheck<T, Look>>(
        counts_[array], [this, array](const std::string& what) { fail(array, what); }, wrong, std::move(look));
  }
  [[nodiscard]] std::unique_ptr<ArrayCheck> make(ViewArray array);
  [[nodiscard]] std::unique_ptr<ArrayCheck> make_of_bvh(ViewArray array);
  [[nodiscard]] bool is_material(std::uint32_t material) const {
    return material < counts_[ViewArray::material_colors] || material == MaterialCode::none;
  }

  CacheFile file_;
  bool bvh_;
  ArrayCounts counts_;
  std::array<std::unique_ptr<ArrayCheck>, kViewArrays> checks_;
  Bits alone_;   // pairs whose second triangle is absent
  Bits single_;  // pairs whose second triangle is a line
  std::vector<Nested> solids_;
  std::optional<OpticalReach> reach_;
  std::atomic<std::uint32_t> first_material_{0};  // the highest of all instances
  std::atomic<std::uint16_t> most_part_{0};       // likewise of all triangles
};

std::unique_ptr<ArrayCheck> CacheCheck::Impl::make_of_bvh(ViewArray array) {
  const ArrayCheck::Fail fail_it = [this, array](const std::string& what) { fail(array, what); };
  if (array == ViewArray::nodes) return make_node_check(counts_, fail_it);
  if (array == ViewArray::pairs) return std::make_unique<PairCheck>(counts_[array], fail_it, single_);
  return std::make_unique<IdCheck>(counts_[array], fail_it, alone_, counts_[ViewArray::triangles]);
}

std::unique_ptr<ArrayCheck> CacheCheck::Impl::make(ViewArray array) {
  using A = ViewArray;
  const auto is_range = [](std::uint64_t first, std::uint64_t count, std::uint64_t all) {
    return first + count <= all;
  };
  switch (array) {
    case A::triangles:
      return each<UInt3>(
          array, "a vertex's number is too large",
          [most = counts_[A::vertices]](UInt3 t, std::uint64_t) { return t.x < most && t.y < most && t.z < most; });
    case A::meshes:
      return each<MeshView>(array, "a mesh's vertices or triangles are not there",
                            [=, this](const MeshView& mesh, std::uint64_t) {
                              return is_range(mesh.first_vertex, mesh.vertex_count, counts_[A::vertices]) &&
                                     is_range(mesh.first_triangle, mesh.triangle_count, counts_[A::triangles]);
                            });
    case A::instances:
      return each<InstanceView>(array, "a number is too large", [this](const InstanceView& instance, std::uint64_t) {
        base::atomic_max(first_material_, instance.first_material);
        return instance.mesh < counts_[A::meshes] && is_material(instance.outside) &&
               (instance.solid_id < counts_[A::solids] || (counts_.flattened && instance.solid_id == 0));
      });
    case A::triangle_parts:
      return std::make_unique<PartCheck>(
          counts_[array], [this, array](const std::string& what) { fail(array, what); }, most_part_);
    case A::part_materials:
      return each<std::uint16_t>(array, "a material's number is too large",
                                 [this](std::uint16_t material, std::uint64_t) { return is_material(material); });
    case A::material_codes:
      return each<MaterialCode>(array, "a material's number is too large", [this](MaterialCode code, std::uint64_t) {
        return is_material(code.inside) && is_material(code.outside);
      });
    case A::frames:
      return each<Transform>(array, "a transform is not finite", [](const Transform& frame, std::uint64_t) {
        return std::ranges::all_of(frame.m, [](double x) { return std::isfinite(x); });
      });
    case A::solid_ids:
    case A::daughters:
      return each<std::uint32_t>(array, "a solid's number is too large",
                                 [most = counts_[A::solids]](std::uint32_t id, std::uint64_t) { return id < most; });
    case A::solids:
      return each<SolidView>(array, "a number is too large", [=, this](const SolidView& solid, std::uint64_t i) {
        solids_[i] = {solid.mother, solid.depth};
        const auto is_surface = [this](std::uint16_t surface) {
          return surface < counts_[A::optical_surfaces] || surface == kNoSurface;
        };
        return (solid.mother < solids_.size() || solid.mother == kNone) && is_material(solid.material) &&
               is_surface(solid.surface_in) && is_surface(solid.surface_out) && is_surface(solid.skin) &&
               is_range(solid.first_daughter, solid.daughter_count, counts_[A::daughters]);
      });
    default:
      break;
  }
  switch (info(array).presence) {
    case ViewArrayInfo::Presence::bvh:
      return make_of_bvh(array);
    case ViewArrayInfo::Presence::optics:
      return make_optics_check(array, counts_, *reach_, [this, array](const std::string& what) { fail(array, what); });
    default:
      return {};  // any value is right
  }
}

CacheCheck::CacheCheck(const CacheFile& file, bool bvh) : impl_(std::make_unique<Impl>(file, bvh)) {}
CacheCheck::~CacheCheck() = default;

std::unique_ptr<CacheCheck> CacheCheck::of_scene(const CacheFile& file) {
  if (!file.has("scene")) return {};
  return std::make_unique<CacheCheck>(file, file.has(info(ViewArray::nodes).name));
}

void CacheCheck::block(const CacheSection& section, std::uint64_t number, std::span<const std::byte> bytes) {
  impl_->block(section, number, bytes);
}

void CacheCheck::finish() {
  impl_->finish();
}

}  // namespace raylift::detail
