#include <algorithm>

#include "packages/ideal_tree.h"
#include "packages/not_sure.h"

// How npm finds out which peers go together: in a virtual tree, whose top wants what the dependent
// wants, and has the package and its peers, and theirs, beneath it.
namespace belljar::packages {
namespace {

constexpr int kDeepestNesting = 200;

}  // namespace

TreeNode& IdealTree::virtual_root(TreeNode& source) {
  TreeNode& root = tree_.make_virtual_root(source);
  virtual_roots_[&source] = &root;
  return root;
}

TreeNode& IdealTree::virtual_root_again(TreeNode& source) {
  const auto at = virtual_roots_.find(&source);
  return at != virtual_roots_.end() ? *at->second : virtual_root(source);
}

TreeNode& IdealTree::node_from_spec(const TreeEdge& edge, TreeNode& parent) {
  const PackageSpec& spec = edge.wanted->spec;
  if (spec.kind == PackageSpec::Kind::other)
    be_unsure("{} is wanted as \"{}\"", edge.wanted->name, spec.text);
  const Picks::Pick* pick = picks_.find(spec);
  if (pick == nullptr) {
    picks_.miss(*edge.wanted);
    be_unsure("the registry was not asked for {}", spec.name);
  }
  if (!pick->unsure.empty()) be_unsure("{}: {}", spec.name, pick->unsure);
  TreeNode& node = pick->manifest != nullptr ? tree_.make_node(edge.name, pick->manifest)
                                             : tree_.make_failure(edge.name);
  if (node.is_failure) failed_.insert(&node);
  tree_.attach(node, parent);
  return node;
}

// `second`: an edge that had better be content too, if one version can be had that suits both.
TreeNode& IdealTree::node_from_edge(TreeEdge& edge, TreeNode* parent, TreeEdge* second,
                                    NodeSet& required) {
  if (nesting_ >= kDeepestNesting) be_unsure("its peer dependencies are nested too deeply");
  ++nesting_;
  if (parent == nullptr) parent = &virtual_root(*edge.from);
  TreeNode* node = &node_from_spec(edge, *parent);
  if (second != nullptr && !second->is_valid()) {
    TreeNode& other = node_from_spec(*second, *parent);
    if (edge.is_valid())
      node = &other;
    else
      tree_.attach(*node, *parent);
  }
  const auto is_required = [&required](const TreeEdge& by) {
    return required.has(by.from) && !by.is_peer_optional();
  };
  if (is_required(edge) || (second != nullptr && is_required(*second))) required.add(node);
  load_peers(*node, required);
  --nesting_;
  return *node;
}

void IdealTree::load_peers(TreeNode& node, NodeSet& required) {
  // Optional peers are not installed for their own sake, but what is must not conflict with them.
  std::vector<TreeEdge*> edges;
  for (TreeEdge& edge : node.edges_out)
    if (edge.is_peer() && !edge.is_met()) edges.push_back(&edge);
  std::sort(edges.begin(), edges.end(), [this](const TreeEdge* a, const TreeEdge* b) {
    return compare_as_english(tree_.name_of(a->name), tree_.name_of(b->name)) < 0;
  });
  for (TreeEdge* edge : edges) {
    if (node.parent == nullptr) return;  // something else has taken its place meanwhile
    if (!edge->is_met() && !load_peer(node, *edge, required)) return;
  }
}

// False if the node has lost its place meanwhile.
bool IdealTree::load_peer(TreeNode& node, TreeEdge& edge, NodeSet& required) {
  TreeEdge* parent_edge = node.parent->edge(edge.name);
  // What the project itself wants is for its owner to get right.
  const bool may_conflict = !node.parent->source->is_top();
  if (edge.to == nullptr) {
    if (parent_edge == nullptr) {
      node_from_edge(edge, node.parent, nullptr, required);
      return true;
    }
    TreeNode& found = node_from_edge(*parent_edge, node.parent, &edge, required);
    if (edge.is_valid()) return true;
    if (may_conflict || !required.has(&found)) {
      edge.peer_conflicted = true;
      return true;
    }
    if (node.parent == nullptr) return false;
    be_unsure("peer dependencies conflict: {} wants {} {}", tree_.name_of(node.name),
              edge.wanted->name, edge.wanted->spec.text);
  }
  TreeNode& current = *edge.to;
  TreeNode& better = node_from_edge(edge, nullptr, nullptr, required);
  if (can_replace(better, current)) {
    node_from_edge(edge, node.parent, nullptr, required);
    return true;
  }
  if (may_conflict || !required.has(edge.from)) return true;
  be_unsure("peer dependencies conflict: {} wants {} {}", tree_.name_of(node.name),
            edge.wanted->name, edge.wanted->spec.text);
}

}  // namespace belljar::packages
