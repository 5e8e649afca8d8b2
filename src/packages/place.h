#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "packages/can_place.h"
#include "packages/tree_sets.h"

namespace belljar::packages {

// Puts a package, which lives in a virtual tree with its peers, into the tree for the sake of one
// edge: as far up as it can go without a conflict, and its peers with it. What that makes
// superfluous or wrong is taken out.
class Placement {
 public:
  Placement(DependencyTree& tree, TreeNode& node, TreeEdge& edge, Effort& effort,
            const Placement* parent = nullptr);

  // Of this and of the peers, in the order in which they were placed. `placed` is null where
  // nothing had to be.
  TreeNode* placed() const { return placed_; }
  TreeEdge& edge() const { return *edge_; }
  bool is_replacement() const { return checked_->self() == Placing::replace; }
  const std::vector<TreeNode*>& to_look_at_again() const { return again_.nodes(); }
  const std::deque<Placement>& peers() const { return peers_; }

 private:
  TreeNode* start() const;
  bool find_target();
  bool is_mine() const;
  void put();
  void replace_old(TreeNode& old);
  void prune_after_replacement(const std::vector<TreeNode*>& old_dependencies);
  void prune_dedupable(TreeNode& node, bool descend);
  void prune_copies();
  void place_peers();

  DependencyTree& tree_;
  TreeNode* node_;
  TreeEdge* edge_;
  Effort& effort_;
  const Placement* parent_;
  std::optional<CanPlace> checked_;  // for the target that was chosen
  TreeNode* placed_ = nullptr;
  NodeSet again_;
  std::deque<Placement> peers_;
};

}  // namespace belljar::packages
