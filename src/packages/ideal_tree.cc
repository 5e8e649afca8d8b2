#include "packages/ideal_tree.h"

#include <algorithm>

#include "packages/not_sure.h"

namespace belljar::packages {
namespace {

constexpr size_t kMostVisits = 20'000;

}  // namespace

IdealTree::IdealTree(const std::vector<DependencyEdge>& wants, Picks& picks)
    : tree_{wants}, picks_{picks} {}

void IdealTree::build() {
  look_at(tree_.root());
  size_t visits = 0;
  while (TreeNode* node = next()) {
    // Of those that were queued some have been replaced meanwhile.
    if (seen_.contains(node) || !tree_.has(*node)) continue;
    if (++visits > kMostVisits) be_unsure("there are too many packages");
    seen_.insert(node);
    visit(*node);
  }
}

// What is nearer to the top comes first: it decides what those further down find.
bool IdealTree::Waiting::operator<(const Waiting& other) const {
  if (depth != other.depth) return depth < other.depth;
  const int order = compare_as_english(path, other.path);
  return order != 0 ? order < 0 : node < other.node;
}

void IdealTree::look_at(TreeNode& node) {
  queue_.insert({node.depth(), tree_.path_of(node), &node});
}

void IdealTree::look_at_again(TreeNode& node) {
  seen_.erase(&node);
  look_at(node);
}

TreeNode* IdealTree::next() {
  if (queue_.empty()) return nullptr;
  return queue_.extract(queue_.begin()).value().node;
}

std::vector<TreeEdge*> IdealTree::problems_of(TreeNode& node) const {
  std::vector<TreeEdge*> problems;
  for (TreeEdge& edge : node.edges_out) {
    if (edge.to != nullptr && failed_.contains(edge.to)) continue;
    const bool is_problem = edge.to != nullptr ? !edge.is_valid() : !edge.is_peer_optional();
    if (is_problem) problems.push_back(&edge);
  }
  return problems;
}

// First every package that is missing is found, then they are placed, by name: so what one brings
// along as its peer may be what another wants.
void IdealTree::visit(TreeNode& node) {
  std::vector<ToPlace> tasks;
  for (TreeEdge* edge : problems_of(node))
    if (!edge->peer_conflicted) tasks.push_back({edge, &node_for(*edge, node)});
  std::sort(tasks.begin(), tasks.end(), [this](const ToPlace& a, const ToPlace& b) {
    return compare_as_english(tree_.name_of(a.edge->name), tree_.name_of(b.edge->name)) < 0;
  });
  for (const ToPlace& task : tasks) {
    const Placement placement{tree_, *task.node, *task.edge, effort_};
    note(placement);
  }
}

TreeNode& IdealTree::node_for(TreeEdge& edge, TreeNode& node) {
  TreeNode& root = virtual_root_again(node);
  const TreeEdge* virtual_edge = root.edge(edge.name);
  if (virtual_edge != nullptr && virtual_edge->is_met() && edge.is_satisfied_by(*virtual_edge->to))
    return *virtual_edge->to;
  if (edge.is_peer_optional()) {
    TreeNode& above = edge.from->parent != nullptr ? *edge.from->parent : *edge.from;
    if (TreeNode* found = find_hoistable(above, edge)) return *found;
  }
  NodeSet required;
  required.add(edge.from);
  return node_from_edge(edge, edge.is_peer() ? &root : nullptr, nullptr, required);
}

TreeNode* IdealTree::find_hoistable(TreeNode& above, const TreeEdge& edge) const {
  std::vector<TreeNode*> queue = above.children_in_order();
  for (size_t i = 0; i < queue.size(); ++i) {
    if (edge.is_satisfied_by(*queue[i])) return queue[i];
    const std::vector<TreeNode*> children = queue[i]->children_in_order();
    queue.insert(queue.end(), children.begin(), children.end());
  }
  return nullptr;
}

void IdealTree::note(const Placement& placement) {
  TreeNode* placed = placement.placed();
  if (placed != nullptr) {
    if (placed->is_failure) {
      failed_.insert(placed);
      failures_.push_back({placed, &placement.edge()});
    }
    // Whoever found something else before, and is not content with this, is looked at again.
    for (const TreeEdge* edge : placed->edges_in)
      if (edge != &placement.edge() && !edge->is_valid() && !edge->peer_conflicted)
        look_at_again(*edge->from);
    look_at(*placed);
    for (TreeNode* node : placement.to_look_at_again()) look_at_again(*node);
  }
  for (const Placement& peer : placement.peers()) note(peer);
}

}  // namespace belljar::packages
