#include "packages/can_place.h"

#include <algorithm>

#include "packages/not_sure.h"
#include "packages/tree_sets.h"

namespace belljar::packages {

void Effort::spend() {
  if (++steps_ > kMostSteps)
    be_unsure("its peer dependencies refer to each other in too many ways");
  if (steps_ % 64 == 0 && std::chrono::steady_clock::now() - start_ > kLongest)
    be_unsure("its dependencies refer to each other in too many ways");
}

CanPlace::CanPlace(TreeNode& node, TreeEdge& edge, TreeNode& target, const CanPlace* parent,
                   Effort& effort)
    : CanPlace{node, edge, target, parent, {}, effort} {}

CanPlace::CanPlace(TreeNode& node, TreeEdge& edge, TreeNode& target, const CanPlace* parent,
                   std::vector<TreeNode*> path, Effort& effort)
    : node_{&node},
      edge_{&edge},
      target_{&target},
      parent_{parent},
      path_{std::move(path)},
      effort_{&effort},
      current_{target.child(edge.name)},
      target_edge_{target.edge(edge.name)} {
  effort_->spend();
  whole_ = check_place();
  if (!has_self_) self_ = whole_;
}

Placing CanPlace::check_place() {
  if (node_->is_failure) return current_ != nullptr ? Placing::replace : Placing::ok;
  // A peer is not put within its dependent.
  if (target_edge_ != nullptr && target_edge_->is_peer() && !target_->is_top())
    return Placing::conflict;
  if (current_ != nullptr) return in_place_of_current();
  if (target_edge_ != nullptr && target_edge_ != edge_ && !target_edge_->is_satisfied_by(*node_))
    return Placing::conflict;
  return beside_nothing();
}

Placing CanPlace::beside_nothing() {
  // Whoever is beneath and finds its dependency further up would find this one instead.
  TreeNode* found = target_ != entry_edge().from ? target_->resolve(edge_->name) : nullptr;
  if (found != nullptr)
    for (const TreeEdge* edge : found->edges_in)
      if (edge->is_valid() && !edge->is_satisfied_by(*node_) && edge->from->is_within(*target_))
        return Placing::conflict;
  return place_peers(Placing::ok);
}

Placing CanPlace::in_place_of_current() {
  const bool was_overridden = !edge_->is_satisfied_by(*node_);
  const bool current_does = edge_->is_satisfied_by(*current_);
  if (node_->matches(*current_) && (current_does || was_overridden)) return Placing::keep;
  const bool is_newer =
      current_->manifest != nullptr && node_->manifest->version >= current_->manifest->version;
  if (is_newer && can_replace(*node_, *current_))
    if (const Placing peers = place_peers(Placing::replace); peers != Placing::conflict)
      return peers;
  if (current_does) return Placing::keep;
  // Peers want to be alone of their kind: an older one is better than two.
  const bool prefers_one = edge_->is_peer() || parent_ != nullptr;
  if (prefers_one && !is_newer && can_replace(*node_, *current_))
    if (const Placing peers = place_peers(Placing::replace); peers != Placing::conflict)
      return peers;
  if (target_ != deepest()) return Placing::conflict;  // so it can go further down
  if (!edge_->is_peer() && target_ == edge_->from) return place_peers(Placing::replace);
  if (parent_ == nullptr && !edge_->is_peer()) return Placing::conflict;
  return can_push_current_away() ? place_peers(Placing::replace) : Placing::conflict;
}

bool CanPlace::can_push_current_away() {
  if (node_->parent == nullptr) be_unsure("a set of peers has fallen apart");
  std::vector<NameId> new_peers;
  new_peers.reserve(node_->parent->children.size());
  for (const auto& [name, peer] : node_->parent->children) new_peers.push_back(name);
  bool result = true;
  for (const auto& [entry_edge, peers] : peer_entry_sets(*current_)) {
    effort_->spend();
    if (entry_edge == edge_ || entry_edge == &this->entry_edge()) continue;
    TreeNode& entry = *entry_edge->to;
    TreeNode* replacement = node_->parent->child(entry.name);
    if (replacement != nullptr && can_replace(*replacement, entry, new_peers)) continue;
    if (replacement == nullptr && can_clobber(entry)) continue;
    for (const TreeNode* peer : peers.nodes()) {
      const TreeNode* deep = deepest_place(*entry_edge->from, peer->name);
      if (deep == target_ || target_->is_within(*deep)) {
        result = false;
        break;
      }
    }
  }
  return result;
}

bool CanPlace::can_clobber(TreeNode& entry) const {
  NodeSet walk;
  walk.add(&entry);
  for (size_t i = 0; i < walk.size(); ++i)
    for (TreeEdge& edge : walk[i]->edges_out) {
      if (!edge.is_peer() || !edge.is_valid()) continue;
      const TreeNode* replacement = node_->parent->child(edge.name);
      if (replacement == nullptr) {
        if (edge.to != nullptr) walk.add(edge.to);
      } else if (!edge.is_satisfied_by(*replacement)) {
        return false;
      }
    }
  return true;
}

TreeNode* CanPlace::deepest() const {
  return deepest_place(parent_ != nullptr ? *parent_->deepest() : *edge_->from, edge_->name);
}

Placing CanPlace::place_peers(Placing state) {
  self_ = state;
  has_self_ = true;
  if (has_peers_) return peers_;
  std::vector<TreeNode*> path = path_;
  path.push_back(node_);
  peers_ = state;
  for (TreeEdge& edge : node_->edges_out) {
    if (!edge.is_peer() || edge.to == nullptr) continue;
    if (std::find(path.begin(), path.end(), edge.to) != path.end()) continue;
    TreeNode* target = deepest_place(*target_, edge.to->name);
    const CanPlace peer{*edge.to, edge, *target, this, path, *effort_};
    if (peer.whole() == Placing::conflict) peers_ = Placing::conflict;
  }
  has_peers_ = true;
  return peers_;
}

}  // namespace belljar::packages
