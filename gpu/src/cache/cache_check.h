// SPDX-License-Identifier: Apache-2.0
// Whether the arrays of a cache file are such that no ray and no kernel leaves them: every index is in range, and the
// trees' links make trees that traversal's stack suffices for. Checksums do not show that, as any program can compute
// them. Arrays are checked as they are read, a block at a time in any order.
#pragma once

#include "cache_file.h"

#include <array>
#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace raylift::detail {

/// How many elements the arrays have, and which of the two forms of a scene they are.
struct ArrayCounts {
  std::array<std::optional<std::uint64_t>, kViewArrays> of;  ///< by ViewArray; none: it is not there
  bool flattened = false;
  [[nodiscard]] std::uint64_t operator[](ViewArray array) const {
    return of[static_cast<std::size_t>(array)].value_or(0);
  }
};

/// What is checked of one array.
class ArrayCheck {
 public:
  using Fail = std::function<void(const std::string& what)>;
  ArrayCheck(std::size_t element_bytes, std::uint64_t count, Fail fail);
  virtual ~ArrayCheck() = default;
  ArrayCheck(const ArrayCheck&) = delete;
  ArrayCheck& operator=(const ArrayCheck&) = delete;

  void block(std::uint64_t number, std::span<const std::byte> bytes);
  /// After all blocks.
  void finish();

 protected:
  /// Elements [first, first + count). Run 2b has those that are whole in block b, run 2b + 1 the one that goes on into
  /// the next block.
  virtual void elements(std::uint64_t run, std::uint64_t first, std::uint64_t count, const std::byte* bytes) = 0;
  virtual void whole() {}
  [[nodiscard]] std::uint64_t runs() const { return 2 * blocks_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::size_t element_bytes_;
  std::uint64_t blocks_;
  std::vector<std::byte> seams_;  ///< the elements that lie in two blocks, one for each block but the last
  Fail fail_;
};

/// An array whose elements are each right or wrong by themselves: look(element, number) says so.
template <class T, class Look>
class EachCheck : public ArrayCheck {
 public:
  EachCheck(std::uint64_t count, Fail fail, std::string wrong, Look look)
      : ArrayCheck(sizeof(T), count, std::move(fail)), wrong_(std::move(wrong)), look_(std::move(look)) {}

 private:
  void elements(std::uint64_t, std::uint64_t first, std::uint64_t count, const std::byte* bytes) override {
    bool right = true;
    for (std::uint64_t i = 0; i != count; ++i) {
      T element;
      std::memcpy(&element, bytes + i * sizeof element, sizeof element);
      right &= look_(element, first + i);
    }
    if (!right) fail(wrong_);
  }
  std::string wrong_;
  Look look_;
};

/// How far optical tables lead into their rows: what several arrays say together, collected from any thread.
class OpticalReach {
 public:
  explicit OpticalReach(std::uint64_t tables);
  /// A table's bucket begins at this row.
  void note_entry(std::uint64_t table, std::uint32_t row);
  /// Rows that are read this far after those of the table.
  void note_rows(std::uint64_t table, std::uint64_t rows);
  /// Whether no table leads out of so many rows.
  [[nodiscard]] bool within(std::uint64_t rows) const;

 private:
  std::vector<std::atomic<std::uint32_t>> last_;
  std::vector<std::atomic<std::uint64_t>> rows_;
};

/// Calls fail(array, what) where the sizes of optical arrays don't fit together.
void check_optical_sizes(const ArrayCounts& counts,
                         const std::function<void(ViewArray array, const std::string& what)>& fail);
/// The check of one of them.
[[nodiscard]] std::unique_ptr<ArrayCheck> make_optics_check(ViewArray array, const ArrayCounts& counts,
                                                            OpticalReach& reach, const ArrayCheck::Fail& fail);

/// The check of the links between nodes. `scene`: nodes[0] is over instances.
[[nodiscard]] std::unique_ptr<ArrayCheck> make_node_check(const ArrayCounts& counts, ArrayCheck::Fail fail);

class CacheCheck {
 public:
  /// Checks a scene's arrays, with those of its BVH or without. Throws Error(malformed) where some are missing or don't
  /// fit together by their sizes.
  CacheCheck(const CacheFile& file, bool bvh);
  /// For all that a file has; null where it is not a scene's.
  [[nodiscard]] static std::unique_ptr<CacheCheck> of_scene(const CacheFile& file);
  ~CacheCheck();

  /// A block as it was read: from any thread, and as often as it is read. Throws Error(malformed).
  void block(const CacheSection& section, std::uint64_t number, std::span<const std::byte> bytes);
  /// After all blocks: the checks over more than one element. Throws Error(malformed).
  void finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raylift::detail
