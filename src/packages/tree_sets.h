#pragma once

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include "packages/dependency_tree.h"
#include "packages/not_sure.h"

namespace belljar::packages {

// Nodes in the order in which they were added, each once.
class NodeSet {
 public:
  bool add(TreeNode* node) {
    if (!members_.insert(node).second) return false;
    order_.push_back(node);
    return true;
  }
  bool has(const TreeNode* node) const { return members_.contains(const_cast<TreeNode*>(node)); }
  void erase(TreeNode* node) {
    members_.erase(node);
    std::erase(order_, node);
  }
  size_t size() const { return order_.size(); }
  TreeNode* operator[](size_t i) const { return order_[i]; }
  const std::vector<TreeNode*>& nodes() const& { return order_; }
  void nodes() && = delete;  // a loop over those of a temporary would outlive it

 private:
  std::vector<TreeNode*> order_;
  std::unordered_set<TreeNode*> members_;
};

// `start` and everything that only they, or what they need, depend on. Edges for which `counts` is
// false are as if they were not there.
template <class Counts>
NodeSet gather_dependencies(const std::vector<TreeNode*>& start, const Counts& counts) {
  NodeSet set;
  for (TreeNode* node : start) set.add(node);
  for (size_t i = 0; i < set.size(); ++i)
    for (TreeEdge& edge : set[i]->edges_out)
      if (edge.to != nullptr && counts(edge)) set.add(edge.to);
  const auto is_needed_outside = [&set, &counts](TreeNode* node) {
    return std::any_of(node->edges_in.begin(), node->edges_in.end(),
                       [&](TreeEdge* edge) { return !set.has(edge->from) && counts(*edge); });
  };
  for (bool changed = true; changed;) {
    changed = false;
    const std::vector<TreeNode*> now = set.nodes();
    for (TreeNode* node : now)
      if (is_needed_outside(node)) {
        set.erase(node);
        changed = true;
      }
  }
  return set;
}

struct PeerEntry {
  TreeEdge* edge;  // by which a set of peers comes into the tree: no peer's, or from the top
  NodeSet peers;
};

// The sets of peers that a node is part of.
std::vector<PeerEntry> peer_entry_sets(TreeNode& node);

// The deepest place, from `start` upwards, where `name` may be: not within one whose peer it is.
TreeNode* deepest_place(TreeNode& start, NameId name);

// Everybody who uses `current` would be content with `node`. Peers beside it that have one of
// `ignored` as their name do not count.
bool can_replace(TreeNode& node, TreeNode& current, const std::vector<NameId>& ignored = {});

// The node can go, because what would be found further up in its stead does as well.
bool can_dedupe(TreeNode& node);

}  // namespace belljar::packages
