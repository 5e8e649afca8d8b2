#include "packages/dependency_tree.h"

#include <algorithm>

#include "packages/not_sure.h"

namespace belljar::packages {
namespace {

constexpr size_t kMostNodes = 100'000;  // with those of virtual trees; big projects make 10,000
constexpr size_t kMostEdges = 3'000'000;
constexpr size_t kDeepest = 100;

}  // namespace

bool TreeEdge::is_satisfied_by(const TreeNode& node) const {
  if (node.name != name) return false;
  if (node.manifest == nullptr) return wanted->spec.is_any();
  return wanted->spec.accepts(node.manifest->version);
}

bool TreeEdge::is_valid() const {
  if (to == nullptr) return is_optional();
  // A peer is what the dependent's surroundings have, never its own.
  if (is_peer() && to->parent == from && !from->is_top()) return false;
  return is_satisfied_by(*to);
}

size_t TreeNode::depth() const {
  size_t depth = 0;
  for (const TreeNode* node = this; node->parent != nullptr; node = node->parent) ++depth;
  return depth;
}

TreeNode* TreeNode::top() {
  TreeNode* node = this;
  while (node->parent != nullptr) node = node->parent;
  return node;
}

TreeEdge* TreeNode::edge(NameId sought) {
  for (TreeEdge& edge : edges_out)
    if (edge.name == sought) return &edge;
  return nullptr;
}

TreeNode* TreeNode::child(NameId sought) const {
  const auto at = children.find(sought);
  return at != children.end() ? at->second : nullptr;
}

TreeNode* TreeNode::resolve(NameId sought) const {
  for (const TreeNode* node = this; node != nullptr; node = node->parent)
    if (TreeNode* found = node->child(sought)) return found;
  return nullptr;
}

bool TreeNode::is_within(const TreeNode& other) const {
  for (const TreeNode* node = this; node != nullptr; node = node->parent)
    if (node == &other) return true;
  return false;
}

bool TreeNode::matches(const TreeNode& other) const {
  if (this == &other) return true;
  if (name != other.name || manifest == nullptr || other.manifest == nullptr) return false;
  return manifest->integrity == other.manifest->integrity;
}

std::vector<TreeNode*> TreeNode::children_in_order() const {
  std::vector<TreeNode*> result;
  result.reserve(children.size());
  for (const auto& [id, node] : children) result.push_back(node);
  std::sort(result.begin(), result.end(),
            [](const TreeNode* a, const TreeNode* b) { return a->attached < b->attached; });
  return result;
}

DependencyTree::DependencyTree(const std::vector<DependencyEdge>& wants) {
  root_ = &make(id_of(""), &wants);
  index(*root_);
}

NameId DependencyTree::id_of(const std::string& name) {
  std::string small = name;
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  const auto [at, is_new] = ids_.emplace(std::move(small), static_cast<NameId>(names_.size()));
  if (is_new) names_.push_back(name);
  if (names_[at->second] != name)
    be_unsure("{} and {} differ only in their case", name, names_[at->second]);
  return at->second;
}

std::string DependencyTree::path_of(const TreeNode& node) const {
  if (node.parent == nullptr) return "";
  const std::string above = path_of(*node.parent);
  return (above.empty() ? "" : above + "/") + "node_modules/" + name_of(node.name);
}

TreeNode& DependencyTree::make(NameId name, const std::vector<DependencyEdge>* wants) {
  if (nodes_.size() >= kMostNodes) be_unsure("there are too many packages");
  TreeNode& node = nodes_.emplace_back();
  node.name = name;
  node.wants = wants;
  if (wants == nullptr) return node;
  edges_made_ += wants->size();
  if (edges_made_ > kMostEdges) be_unsure("there are too many dependencies");
  node.edges_out.reserve(wants->size());
  for (const DependencyEdge& wanted : *wants) {
    TreeEdge edge;
    edge.from = &node;
    edge.name = id_of(wanted.name);
    edge.wanted = &wanted;
    node.edges_out.push_back(edge);
  }
  return node;
}

TreeNode& DependencyTree::make_node(NameId name, std::shared_ptr<const Manifest> manifest) {
  if (!manifest->strange.empty())
    be_unsure("{} {}: {}", manifest->name, manifest->version_text, manifest->strange);
  TreeNode& node = make(name, &manifest->edges);
  node.manifest = std::move(manifest);
  return node;
}

TreeNode& DependencyTree::make_failure(NameId name) {
  TreeNode& node = make(name, nullptr);
  node.is_failure = true;
  return node;
}

TreeNode& DependencyTree::make_virtual_root(TreeNode& source) {
  TreeNode& node = make(source.name, source.wants);
  node.source = &source;
  return node;
}

void DependencyTree::reload(TreeEdge& edge) {
  TreeNode* const now = edge.from->resolve(edge.name);
  if (now == edge.to) return;
  if (edge.to != nullptr) std::erase(edge.to->edges_in, &edge);
  edge.to = now;
  if (now != nullptr) now->edges_in.push_back(&edge);
}

void DependencyTree::reload_edges_out(TreeNode& node) {
  for (TreeEdge& edge : node.edges_out) reload(edge);
  for (const auto& [id, child] : node.children) reload_edges_out(*child);
}

void DependencyTree::reload_named(NameId name, TreeNode& beneath) {
  if (has(beneath)) {
    for (TreeEdge* edge : edges_named_[name])
      if (edge->from->is_within(beneath)) reload(*edge);
    return;
  }
  // A virtual tree is small.
  if (TreeEdge* edge = beneath.edge(name)) reload(*edge);
  for (const auto& [id, child] : beneath.children) reload_named(name, *child);
}

void DependencyTree::index(TreeNode& node) {
  if (!node.is_indexed) {
    node.is_indexed = true;
    nodes_named_[node.name].push_back(&node);
    for (TreeEdge& edge : node.edges_out) edges_named_[edge.name].push_back(&edge);
  }
  for (const auto& [id, child] : node.children) index(*child);
}

void DependencyTree::renumber(TreeNode& node) {
  const std::vector<TreeNode*> children = node.children_in_order();
  node.attached = ++clock_;
  for (TreeNode* child : children) renumber(*child);
}

void DependencyTree::place(TreeNode& node, TreeNode& parent) {
  if (parent.depth() >= kDeepest) be_unsure("the packages are nested too deeply");
  node.parent = &parent;
  parent.children[node.name] = &node;
  renumber(node);
  if (has(parent)) index(node);
  reload_named(node.name, parent);
  reload_edges_out(node);
}

void DependencyTree::attach(TreeNode& node, TreeNode& parent) {
  if (TreeNode* old = parent.child(node.name)) remove(*old);
  place(node, parent);
}

void DependencyTree::remove(TreeNode& node) {
  if (node.parent == nullptr) return;
  node.parent->children.erase(node.name);
  node.parent = nullptr;
  const std::vector<TreeEdge*> edges_in = node.edges_in;
  for (TreeEdge* edge : edges_in) reload(*edge);
  reload_edges_out(node);
}

void DependencyTree::replace(TreeNode& old, TreeNode& by) {
  TreeNode& parent = *old.parent;
  by.children = std::move(old.children);
  old.children.clear();
  for (const auto& [id, child] : by.children) child->parent = &by;
  remove(old);
  place(by, parent);
}

std::vector<TreeNode*> DependencyTree::named(NameId name) {
  std::vector<TreeNode*> result;
  for (TreeNode* node : nodes_named_[name])
    if (!node->is_top() && has(*node)) result.push_back(node);
  std::sort(result.begin(), result.end(),
            [](const TreeNode* a, const TreeNode* b) { return a->attached < b->attached; });
  return result;
}

std::vector<TreeNode*> DependencyTree::nodes() {
  std::vector<TreeNode*> result;
  for (TreeNode& node : nodes_)
    if (!node.is_top() && node.is_indexed && has(node)) result.push_back(&node);
  return result;
}

}  // namespace belljar::packages
