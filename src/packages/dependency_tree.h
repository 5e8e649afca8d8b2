#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "packages/manifest.h"

namespace belljar::packages {

using NameId = uint32_t;
struct TreeNode;

// That a node of a tree needs a package. `to` is always what Node.js would find from there.
struct TreeEdge {
  TreeNode* from = nullptr;
  TreeNode* to = nullptr;
  NameId name = 0;
  const DependencyEdge* wanted = nullptr;
  bool peer_conflicted = false;  // a peer that cannot be had; npm has said so and goes on

  bool is_peer() const { return packages::is_peer(wanted->type); }
  bool is_peer_optional() const { return wanted->type == EdgeType::peer_optional; }
  bool is_optional() const { return packages::is_optional(wanted->type); }
  bool is_satisfied_by(const TreeNode& node) const;
  bool is_valid() const;
  bool is_met() const { return to != nullptr && is_valid(); }
};

// A package at a place, or the top of a tree.
struct TreeNode {
  NameId name = 0;
  std::shared_ptr<const Manifest> manifest;  // null: it could not be had (see is_failure), or a top
  const std::vector<DependencyEdge>* wants = nullptr;  // null for a failure
  bool is_failure = false;
  TreeNode* parent = nullptr;
  TreeNode* source = nullptr;  // of a virtual root: the node for which it stands
  std::unordered_map<NameId, TreeNode*> children;
  uint64_t attached = 0;            // when it came to its place: later ones have higher numbers
  std::vector<TreeEdge> edges_out;  // never grows or shrinks: edges are referred to
  std::vector<TreeEdge*> edges_in;
  bool is_indexed = false;

  bool is_top() const { return parent == nullptr; }
  size_t depth() const;
  TreeNode* top();
  TreeEdge* edge(NameId wanted);
  TreeNode* child(NameId wanted) const;
  TreeNode* resolve(NameId wanted) const;            // as require() does: here, or further up
  bool is_within(const TreeNode& other) const;       // or is it
  bool matches(const TreeNode& other) const;         // is the same package
  std::vector<TreeNode*> children_in_order() const;  // in which they came
};

// One tree that becomes a node_modules, and small virtual ones in which npm tries how a package
// and its peers go together: each has a top with nodes beneath it. What it makes lives as long as
// itself, so that whoever still refers to a node that was removed finds it without a parent.
class DependencyTree {
 public:
  // A tree of `wants`, which must outlive it. No name may be in any list of edges twice.
  explicit DependencyTree(const std::vector<DependencyEdge>& wants);
  DependencyTree(const DependencyTree&) = delete;
  DependencyTree& operator=(const DependencyTree&) = delete;

  TreeNode& root() { return *root_; }
  bool has(TreeNode& node) { return node.top() == root_; }

  TreeNode& make_node(NameId name, std::shared_ptr<const Manifest> manifest);
  TreeNode& make_failure(NameId name);
  TreeNode& make_virtual_root(TreeNode& source);

  // Puts a node without a parent beneath one; what had its place is removed.
  void attach(TreeNode& node, TreeNode& parent);
  // Takes the node, and what is beneath it, out of its tree.
  void remove(TreeNode& node);
  // Puts a node without a parent at the place of another, and what was beneath that beneath it.
  void replace(TreeNode& old, TreeNode& by);

  // All nodes of that name in the tree of `root`, in the order in which they came.
  std::vector<TreeNode*> named(NameId name);
  std::vector<TreeNode*> nodes();  // of the tree of `root`, without itself

  NameId id_of(const std::string& name);
  const std::string& name_of(NameId id) const { return names_[id]; }
  std::string path_of(const TreeNode& node) const;  // "node_modules/a/node_modules/b", "" for tops
  size_t size() const { return nodes_.size(); }     // of nodes ever made

 private:
  TreeNode& make(NameId name, const std::vector<DependencyEdge>* wants);
  void place(TreeNode& node, TreeNode& parent);
  void renumber(TreeNode& node);
  void index(TreeNode& node);
  static void reload(TreeEdge& edge);
  void reload_edges_out(TreeNode& node);
  void reload_named(NameId name, TreeNode& beneath);

  std::deque<TreeNode> nodes_;
  TreeNode* root_ = nullptr;
  uint64_t clock_ = 0;
  size_t edges_made_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, NameId> ids_;  // by the name in small letters
  // Of nodes that are, or were, in the tree of `root`.
  std::unordered_map<NameId, std::vector<TreeEdge*>> edges_named_;
  std::unordered_map<NameId, std::vector<TreeNode*>> nodes_named_;
};

}  // namespace belljar::packages
