#include "packages/tree_sets.h"

namespace belljar::packages {
namespace {

// The node and its peers, and theirs.
NodeSet peers_of(TreeNode& node) {
  NodeSet set;
  set.add(&node);
  for (size_t i = 0; i < set.size(); ++i)
    for (TreeEdge& edge : set[i]->edges_out)
      if (edge.is_peer() && edge.is_met()) set.add(edge.to);
  return set;
}

NodeSet all_connected_by_peers(TreeNode& node) {
  NodeSet set;
  set.add(&node);
  for (size_t i = 0; i < set.size(); ++i) {
    for (TreeEdge& edge : set[i]->edges_out)
      if (edge.is_peer() && edge.is_met()) set.add(edge.to);
    for (TreeEdge* edge : set[i]->edges_in)
      if (edge->is_peer() && edge->is_valid()) set.add(edge->from);
  }
  return set;
}

}  // namespace

std::vector<PeerEntry> peer_entry_sets(TreeNode& node) {
  std::vector<PeerEntry> result;
  const NodeSet connected = all_connected_by_peers(node);
  for (TreeNode* peer : connected.nodes())
    for (TreeEdge* edge : peer->edges_in) {
      if (!edge->is_valid() || (edge->is_peer() && !edge->from->is_top())) continue;
      NodeSet peers = peers_of(*peer);
      if (peers.has(&node)) result.push_back({edge, std::move(peers)});
    }
  return result;
}

TreeNode* deepest_place(TreeNode& start, NameId name) {
  TreeNode* place = &start;
  while (!place->is_top()) {
    const TreeEdge* edge = place->edge(name);
    if (edge == nullptr || !edge->is_peer()) return place;
    place = place->parent;
  }
  return place;
}

bool can_replace(TreeNode& node, TreeNode& current, const std::vector<NameId>& ignored) {
  if (node.name != current.name) return false;
  const bool both = node.manifest != nullptr && current.manifest != nullptr;
  if (both ? node.manifest->name != current.manifest->name : node.manifest != current.manifest)
    return false;
  const auto counts = [&current](const TreeEdge& edge) {
    return edge.to != &current && edge.is_valid();
  };
  const NodeSet own = gather_dependencies({&current}, counts);
  return std::all_of(current.edges_in.begin(), current.edges_in.end(), [&](TreeEdge* edge) {
    if (!current.is_top() && edge->from->parent == current.parent && edge->is_peer() &&
        std::find(ignored.begin(), ignored.end(), edge->from->name) != ignored.end())
      return true;
    return own.has(edge->from) || edge->is_satisfied_by(node);
  });
}

bool can_dedupe(TreeNode& node) {
  if (node.is_top() || node.parent->is_top()) return false;
  if (node.edges_in.empty()) return true;
  TreeNode* other = node.parent->parent->resolve(node.name);
  if (other == nullptr) return false;
  if (other->matches(node)) return true;
  if (!can_replace(*other, node) || other->manifest == nullptr) return false;
  return other->manifest->version >= node.manifest->version;
}

}  // namespace belljar::packages
