#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "packages/can_place.h"
#include "packages/dependency_tree.h"
#include "packages/picks.h"
#include "packages/place.h"

namespace belljar::packages {

// Builds the tree that npm would build in an empty directory: breadth first, each package as far
// up as it can go. Throws NotSure where npm might do otherwise; then Picks may say what is missing.
// Pure computation: takes milliseconds for a hundred packages, and may run on any thread.
class IdealTree {
 public:
  // Both must outlive it.
  IdealTree(const std::vector<DependencyEdge>& wants, Picks& picks);

  void build();

  DependencyTree& tree() { return tree_; }

  // Nodes of the tree that could not be had, and why.
  struct Failure {
    TreeNode* node;
    const TreeEdge* edge;
  };
  const std::vector<Failure>& failures() const { return failures_; }

 private:
  struct ToPlace {
    TreeEdge* edge;
    TreeNode* node;
  };
  // A node keeps its path as long as it is in the tree, even if what is above it is replaced.
  struct Waiting {
    size_t depth;
    std::string path;
    TreeNode* node;
    bool operator<(const Waiting& other) const;
  };

  void visit(TreeNode& node);
  std::vector<TreeEdge*> problems_of(TreeNode& node) const;
  TreeNode& node_for(TreeEdge& edge, TreeNode& node);
  TreeNode* find_hoistable(TreeNode& above, const TreeEdge& edge) const;
  void note(const Placement& placement);
  void look_at(TreeNode& node);        // unless it was looked at
  void look_at_again(TreeNode& node);  // even so
  TreeNode* next();

  // Virtual trees: a package and its peers, beside what its dependent wants.
  TreeNode& virtual_root(TreeNode& source);
  TreeNode& virtual_root_again(TreeNode& source);
  TreeNode& node_from_edge(TreeEdge& edge, TreeNode* parent, TreeEdge* second, NodeSet& required);
  TreeNode& node_from_spec(const TreeEdge& edge, TreeNode& parent);
  void load_peers(TreeNode& node, NodeSet& required);
  bool load_peer(TreeNode& node, TreeEdge& edge, NodeSet& required);

  DependencyTree tree_;
  Picks& picks_;
  Effort effort_;
  std::set<Waiting> queue_;
  std::unordered_set<TreeNode*> seen_;
  std::unordered_set<const TreeNode*> failed_;
  std::unordered_map<TreeNode*, TreeNode*> virtual_roots_;
  std::vector<Failure> failures_;
  int nesting_ = 0;  // of sets of peers
};

}  // namespace belljar::packages
