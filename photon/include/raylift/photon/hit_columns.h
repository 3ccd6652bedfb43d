// SPDX-License-Identifier: Apache-2.0
// Which columns of hits a request of a service wants. For kernels and host code.
#pragma once

#include <raylift/geometry/detail/standard.h>
#include <raylift/photon/results.h>

#include <initializer_list>

namespace raylift::photon {

/// The columns of hits that a request wants, in the order in which a hit's row has them. None: hits are only counted.
class HitColumns {
 public:
  /// A column of hits: four bytes for each hit. The first sixteen are the words of a PhotonRow, in its order.
  enum class Column : std::uint8_t {
    x,  ///< mm, in the scene's coordinates
    y,
    z,
    time,  ///< ns
    direction_x,
    direction_y,
    direction_z,
    solid,  ///< uint32
    polarization_x,
    polarization_y,
    polarization_z,
    wavelength,  ///< nm
    end,         ///< uint32: PhotonRow::flag in the lower 16 bits, PhotonRow::surface in the upper ones
    sensor,      ///< uint32: channel + 1; 0: none
    number,      ///< uint32: of the photon in its event, its lowest 32 bits
    flags,       ///< uint32: Opticks's, of its birth and all of its steps
    channel,     ///< int32; kNoChannel: none
  };
  static constexpr std::size_t kColumns = 17;
  /// A hit in 16 bytes: brief().
  struct Brief {
    std::int32_t channel;  ///< kNoChannel: none
    float time;            ///< ns
    float wavelength;      ///< nm
    std::uint32_t flags;   ///< Opticks's, of its birth and all of its steps
  };

  static constexpr std::size_t kMax = 16;

  constexpr HitColumns() = default;
  /// The first kMax of them.
  constexpr HitColumns(std::initializer_list<Column> columns) {
    for (const Column column : columns)
      if (size_ != kMax) columns_[size_++] = column;
  }
  /// PhotonRow: (H, 4, 4) of float32.
  [[nodiscard]] static constexpr HitColumns rows() {
    HitColumns all;
    for (; all.size_ != kMax; ++all.size_) all.columns_[all.size_] = static_cast<Column>(all.size_);
    return all;
  }
  /// Brief.
  [[nodiscard]] static constexpr HitColumns brief() {
    return {Column::channel, Column::time, Column::wavelength, Column::flags};
  }

  [[nodiscard]] RAYLIFT_HD constexpr std::uint32_t size() const { return size_; }
  [[nodiscard]] RAYLIFT_HD constexpr Column operator[](std::uint32_t i) const { return columns_[i]; }
  [[nodiscard]] constexpr std::size_t row_bytes() const { return std::size_t{size_} * sizeof(std::uint32_t); }
  friend constexpr bool operator==(const HitColumns& a, const HitColumns& b) {
    for (std::uint32_t i = 0; i != kMax; ++i)
      if (a.columns_[i] != b.columns_[i]) return false;
    return a.size_ == b.size_;
  }

 private:
  Column columns_[kMax]{};
  std::uint8_t size_ = 0;
};

static_assert(sizeof(HitColumns::Brief) == 16);

/// A column of a hit's row.
[[nodiscard]] RAYLIFT_HD_INLINE std::uint32_t word_of(const PhotonRow& row, HitColumns::Column column) {
  if (column == HitColumns::Column::channel) return row.sensor - 1;
  std::uint32_t words[HitColumns::kMax];
  static_assert(sizeof words == sizeof row);
  std::memcpy(words, &row, sizeof words);
  return words[static_cast<std::uint32_t>(column)];
}

}  // namespace raylift::photon
