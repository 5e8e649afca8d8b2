#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "packages/dependency_tree.h"

namespace belljar::packages {

// What would happen if a package were put somewhere.
enum class Placing {
  ok,       // there is nothing yet, and nobody minds
  keep,     // what is there does
  replace,  // it may take the place of what is there
  conflict,
};

// Counts what trying costs, and is unsure when it becomes absurd: sets of peers that refer to each
// other in many ways take exponential time.
class Effort {
 public:
  void spend();

 private:
  // Projects of 1,400 packages take 5,000.
  static constexpr size_t kMostSteps = 300'000;
  static constexpr std::chrono::seconds kLongest{10};

  size_t steps_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Whether `node`, which lives in a virtual tree with its peers, may be put beneath `target` for the
// sake of `edge`, and its peers with it. Changes nothing.
class CanPlace {
 public:
  // `parent`: for the peer of a node, the check of that node.
  CanPlace(TreeNode& node, TreeEdge& edge, TreeNode& target, const CanPlace* parent,
           Effort& effort);

  Placing whole() const { return whole_; }  // with its peers
  Placing self() const { return self_; }    // if only the node counted
  TreeNode& target() const { return *target_; }

 private:
  CanPlace(TreeNode& node, TreeEdge& edge, TreeNode& target, const CanPlace* parent,
           std::vector<TreeNode*> path, Effort& effort);
  void check();
  Placing check_place();
  Placing beside_nothing();
  Placing in_place_of_current();
  Placing place_peers(Placing state);
  bool can_push_current_away();
  bool can_clobber(TreeNode& entry) const;
  TreeNode* deepest() const;
  const TreeEdge& entry_edge() const { return parent_ ? parent_->entry_edge() : *edge_; }

  TreeNode* node_;
  TreeEdge* edge_;
  TreeNode* target_;
  const CanPlace* parent_;
  std::vector<TreeNode*> path_;  // the nodes whose peers are being checked
  Effort* effort_;
  TreeNode* current_;      // what is there now
  TreeEdge* target_edge_;  // what the target itself wants by that name
  Placing whole_ = Placing::conflict;
  Placing self_ = Placing::conflict;
  bool has_self_ = false;
  bool has_peers_ = false;
  Placing peers_ = Placing::conflict;
};

}  // namespace belljar::packages
