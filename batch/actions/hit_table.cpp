// SPDX-License-Identifier: Apache-2.0
#include "hit_table.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <utility>

#include "cli/options.h"
#include "cli/table.h"
#include "cli/text.h"

namespace raylift::batch {
using namespace cli;
namespace {

constexpr std::size_t kHitBlock = 4096;
constexpr std::size_t kMissed = std::numeric_limits<std::size_t>::max();

/// An outline's meshes have no triangles, but parts cover them all.
std::uint64_t triangle_count(const Mesh& mesh) {
  return mesh.parts.empty() ? 0 : std::uint64_t{mesh.parts.back().first_triangle} + mesh.parts.back().triangle_count;
}

}  // namespace

HitTable::HitTable(const Scene& scene, bool flattened) : scene_(scene), flattened_(flattened), first_slot_{0} {
  std::uint64_t triangles = 0;
  const auto begin = [&](const Mesh& mesh) {
    first_triangle_.push_back(triangles);
    triangles += triangle_count(mesh);
  };
  if (!flattened) std::for_each(scene.meshes.begin(), scene.meshes.end(), begin);
  for (const Instance& instance : scene.instances) {
    const Mesh& mesh = scene.meshes[instance.mesh];
    if (flattened) begin(mesh);
    first_slot_.push_back(first_slot_.back() + mesh.parts.size());
  }
  counts_.resize(first_slot_.back());
}

std::size_t HitTable::slot(const Hit& hit) const {
  if (!hit.valid()) return kMissed;
  const auto last_before = [](const auto& firsts, auto value, auto first_of) {
    const auto after = std::upper_bound(firsts.begin(), firsts.end(), value,
                                        [&](auto at, const auto& one) { return at < first_of(one); });
    return static_cast<std::size_t>(after - firsts.begin()) - 1;
  };
  // Flattened, instances without triangles begin where the next one does: the last of them has the triangle.
  const std::size_t instance =
      flattened_ ? last_before(first_triangle_, std::uint64_t{hit.triangle}, [](std::uint64_t first) { return first; })
                 : hit.instance;
  const std::uint32_t mesh = scene_.instances[instance].mesh;
  const std::uint64_t triangle = hit.triangle - first_triangle_[flattened_ ? instance : mesh];
  return first_slot_[instance] + last_before(scene_.meshes[mesh].parts, triangle,
                                             [](const Mesh::Part& part) { return std::uint64_t{part.first_triangle}; });
}

void HitTable::add(std::span<const Hit> hits) {
  tbb::parallel_for(std::size_t{0}, (hits.size() + kHitBlock - 1) / kHitBlock, [&](std::size_t block) {
    const std::span<const Hit> here =
        hits.subspan(block * kHitBlock, std::min(kHitBlock, hits.size() - block * kHitBlock));
    std::vector<std::pair<std::size_t, bool>> keys;
    keys.reserve(here.size());
    for (const Hit& hit : here) keys.emplace_back(slot(hit), hit.from_inside != 0);
    // Sorted, so that the threads meet at a counter once a block, and not once a hit.
    std::sort(keys.begin(), keys.end());
    for (auto run = keys.begin(); run != keys.end() && run->first != kMissed;) {
      const auto end = std::find_if(run, keys.end(), [&](const auto& key) { return key != *run; });
      Count& count = counts_[run->first];
      const auto more = static_cast<std::uint64_t>(end - run);
      std::atomic_ref(count.hits).fetch_add(more, std::memory_order_relaxed);
      if (run->second) std::atomic_ref(count.from_inside).fetch_add(more, std::memory_order_relaxed);
      run = end;
    }
  });
}

std::vector<HitTable::Row> HitTable::rows(HitsBy by) const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Row> found;
  for (std::uint32_t i = 0; i != scene_.instances.size(); ++i) {
    const Instance& instance = scene_.instances[i];
    for (std::size_t at = first_slot_[i]; at != first_slot_[i + 1]; ++at) {
      if (counts_[at].hits == 0) continue;
      const std::uint32_t material = by == HitsBy::mesh ? kNone : scene_.material(instance, at - first_slot_[i]);
      const std::uint32_t thing = by == HitsBy::solid ? i : by == HitsBy::mesh ? instance.mesh : 0;
      Row& row = found.try_emplace({thing, material}, Row{i, material, {}}).first->second;
      row.count.hits += counts_[at].hits;
      row.count.from_inside += counts_[at].from_inside;
    }
  }
  std::vector<Row> result;
  for (const auto& [key, row] : found) result.push_back(row);
  std::stable_sort(result.begin(), result.end(),
                   [](const Row& a, const Row& b) { return a.count.hits > b.count.hits; });
  return result;
}

std::string HitTable::material_name(std::uint32_t material) const {
  return material == kNone ? "(none)" : scene_.materials[material].name;
}

std::string HitTable::text(HitsBy by, std::size_t most) const {
  std::vector<Table::Column> columns{{name_of(by, kHitsByNames), Align::left}};
  if (by == HitsBy::solid) columns.push_back({"material", Align::left});
  columns.insert(columns.end(), {{"hits"}, {"share"}, {"from inside"}});
  Table table(std::move(columns));
  const std::vector<Row> all = rows(by);
  std::uint64_t hits = 0;
  for (const Row& row : all) hits += row.count.hits;
  for (std::size_t i = 0; i != std::min(most, all.size()); ++i) {
    const Instance& instance = scene_.instances[all[i].instance];
    std::vector<std::string> cells{by == HitsBy::solid  ? scene_.solid_name(instance)
                                   : by == HitsBy::mesh ? scene_.meshes[instance.mesh].name
                                                        : material_name(all[i].material)};
    if (by == HitsBy::solid) cells.push_back(material_name(all[i].material));
    cells.insert(cells.end(),
                 {grouped(all[i].count.hits),
                  fmt::format("{:.2f} %", 100.0 * static_cast<double>(all[i].count.hits) / static_cast<double>(hits)),
                  grouped(all[i].count.from_inside)});
    table.add(std::move(cells));
  }
  std::string text = table.empty() ? "" : table.text(2);
  if (all.size() > most) text += fmt::format("  and {} more; --json lists all\n", grouped(all.size() - most));
  return text;
}

Json HitTable::json(HitsBy by) const {
  Json json = Json::array();
  for (const Row& row : rows(by)) {
    const Instance& instance = scene_.instances[row.instance];
    Json one = Json::object();
    if (by == HitsBy::solid) one["solid"] = scene_.path(instance);
    if (by == HitsBy::mesh)
      one["mesh"] = scene_.meshes[instance.mesh].name;
    else
      one["material"] = row.material == kNone ? Json() : Json(scene_.materials[row.material].name);
    one["hits"] = row.count.hits;
    one["hits_from_inside"] = row.count.from_inside;
    json.push_back(std::move(one));
  }
  return json;
}

}  // namespace raylift::batch
