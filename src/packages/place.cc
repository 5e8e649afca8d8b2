#include "packages/place.h"

#include "packages/not_sure.h"

namespace belljar::packages {

Placement::Placement(DependencyTree& tree, TreeNode& node, TreeEdge& edge, Effort& effort,
                     const Placement* parent)
    : tree_{tree}, node_{&node}, edge_{&edge}, effort_{effort}, parent_{parent} {
  if (edge.is_met() || !find_target()) return;
  const Placing placing =
      checked_->whole() == Placing::conflict ? checked_->self() : checked_->whole();
  if (placing == Placing::keep) {
    if (edge.is_peer() && !edge.is_valid()) edge.peer_conflicted = true;
    prune_dedupable(checked_->target(), true);
    return;
  }
  put();
}

TreeNode* Placement::start() const {
  return deepest_place(parent_ != nullptr ? *parent_->start() : *edge_->from, edge_->name);
}

bool Placement::find_target() {
  const CanPlace* above = parent_ != nullptr ? &*parent_->checked_ : nullptr;
  std::optional<CanPlace> for_itself;  // where at least it, if not its peers, could be
  for (TreeNode* target = start(); target != nullptr; target = target->parent) {
    const TreeEdge* wanted = target->edge(edge_->name);
    if (!target->is_top() && wanted != nullptr && wanted->is_peer()) continue;
    const CanPlace check{*node_, *edge_, *target, above, effort_};
    if (check.self() != Placing::conflict) for_itself = check;
    if (check.whole() == Placing::conflict) break;
    checked_ = check;
    if (node_->is_failure) break;
  }
  if (checked_) return true;
  if (is_mine())
    be_unsure("peer dependencies conflict: {} is wanted where another version is needed",
              tree_.name_of(edge_->name));
  if (!for_itself) {
    edge_->peer_conflicted = true;
    return false;
  }
  checked_ = for_itself;
  return true;
}

// The project itself asks for it, so that a conflict is for its owner to solve.
bool Placement::is_mine() const {
  const Placement* top = this;
  while (top->parent_ != nullptr) top = top->parent_;
  TreeNode& from = *top->edge_->from;
  if (from.is_top()) return true;
  if (!top->edge_->is_peer()) return false;
  bool has_peer_edges = false;
  for (const TreeEdge* edge : from.edges_in) {
    if (edge->is_peer())
      has_peer_edges = true;
    else if (edge->from->is_top())
      return true;
  }
  if (!has_peer_edges) return false;
  const std::vector<PeerEntry> entries = peer_entry_sets(from);
  return std::any_of(entries.begin(), entries.end(),
                     [](const PeerEntry& entry) { return entry.edge->from->is_top(); });
}

void Placement::put() {
  TreeNode& target = checked_->target();
  for (TreeNode* above = &target; !above->is_top(); above = above->parent)
    if (above->matches(*node_))
      be_unsure("{} needs itself in a circle, for which npm makes a link",
                tree_.name_of(edge_->name));
  if (node_->manifest != nullptr && !node_->manifest->not_placed.empty())
    be_unsure("{} {}: {}", node_->manifest->name, node_->manifest->version_text,
              node_->manifest->not_placed);
  placed_ = node_->is_failure ? &tree_.make_failure(node_->name)
                              : &tree_.make_node(node_->name, node_->manifest);
  if (TreeNode* old = target.child(edge_->name))
    replace_old(*old);
  else
    tree_.attach(*placed_, target);
  if (edge_->is_peer() && !edge_->is_satisfied_by(*placed_)) edge_->peer_conflicted = true;
  if (edge_->is_met() && edge_->to != placed_) prune_dedupable(*edge_->to, false);
  prune_copies();
  place_peers();
}

void Placement::replace_old(TreeNode& old) {
  TreeNode& target = *old.parent;
  std::vector<TreeNode*> old_dependencies;
  for (TreeEdge& edge : old.edges_out) {
    if (placed_->edge(edge.name) != nullptr || edge.to == nullptr) continue;
    TreeNode* to = edge.to;
    const auto counts = [to](const TreeEdge& other) { return other.to != to; };
    const NodeSet set = gather_dependencies({to}, counts);
    old_dependencies.insert(old_dependencies.end(), set.nodes().begin(), set.nodes().end());
  }
  // Peers beside it that the new one does not suit go deeper, if they can.
  std::vector<TreeNode*> peers_to_move;
  for (TreeEdge* edge : old.edges_in) {
    if (edge->is_satisfied_by(*placed_) || !edge->is_peer() || edge->from->parent != &target ||
        edge->peer_conflicted)
      continue;
    for (const PeerEntry& entry : peer_entry_sets(*edge->from)) {
      TreeNode* node = entry.edge->to;
      // npm asks for the deepest place of a nameless thing here: that is where the node is.
      if (node != &target && !entry.edge->from->is_top()) {
        const auto counts = [node](const TreeEdge& other) {
          return other.to != node && !other.peer_conflicted;
        };
        const NodeSet set = gather_dependencies({node}, counts);
        peers_to_move.insert(peers_to_move.end(), set.nodes().begin(), set.nodes().end());
      } else {
        edge->peer_conflicted = true;
      }
    }
  }
  tree_.replace(old, *placed_);
  prune_after_replacement(old_dependencies);
  for (TreeNode* node : peers_to_move) {
    for (const TreeEdge* edge : node->edges_in) again_.add(edge->from);
    tree_.remove(*node);
  }
}

void Placement::prune_after_replacement(const std::vector<TreeNode*>& old_dependencies) {
  NodeSet invalid;
  for (const TreeEdge& edge : placed_->edges_out)
    if (edge.to != nullptr && !edge.is_valid()) invalid.add(edge.to);
  for (TreeNode* old : old_dependencies) {
    const auto counts = [old](const TreeEdge& edge) { return edge.to != old && edge.is_valid(); };
    const NodeSet superfluous = gather_dependencies({old}, counts);
    for (TreeNode* node : superfluous.nodes()) invalid.add(node);
  }
  const auto counts = [this](const TreeEdge& edge) {
    return edge.from != placed_ && edge.to != placed_ && edge.is_valid();
  };
  const NodeSet gone = gather_dependencies(invalid.nodes(), counts);
  for (TreeNode* node : gone.nodes()) tree_.remove(*node);
}

void Placement::prune_dedupable(TreeNode& node, bool descend) {
  effort_.spend();
  if (can_dedupe(node)) {
    const auto counts = [&node](const TreeEdge& edge) {
      return edge.to != &node && edge.is_valid();
    };
    const NodeSet gone = gather_dependencies({&node}, counts);
    for (TreeNode* one : gone.nodes()) tree_.remove(*one);
    return;
  }
  if (!descend) return;
  std::vector<TreeNode*> children = node.children_in_order();
  std::sort(children.begin(), children.end(), [this](TreeNode* a, TreeNode* b) {
    return compare_as_english(tree_.name_of(a->name), tree_.name_of(b->name)) < 0;
  });
  for (TreeNode* child : children) prune_dedupable(*child, true);
}

void Placement::prune_copies() {
  TreeNode& target = checked_->target();
  for (TreeNode* node : tree_.named(edge_->name)) {
    if (!tree_.has(*node) || !node->is_within(target)) continue;
    prune_dedupable(*node, false);
    if (!tree_.has(*node)) continue;
    for (TreeNode* child : node->children_in_order()) prune_dedupable(*child, false);
  }
}

void Placement::place_peers() {
  const TreeNode* together = node_->parent;
  for (TreeEdge& edge : placed_->edges_out) {
    if (edge.is_valid() || !edge.is_peer() || edge.peer_conflicted) continue;
    if (together == nullptr) be_unsure("a set of peers has fallen apart");
    TreeNode* peer = together->child(edge.name);
    if (peer == nullptr || !edge.is_satisfied_by(*peer)) continue;
    peers_.emplace_back(tree_, *peer, edge, effort_, this);
  }
}

}  // namespace belljar::packages
