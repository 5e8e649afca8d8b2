// Layers of many packages, which share the directories of what they have in common.
#include "packages/layer_base.h"

#include <gmock/gmock.h>
#include <fstream>

#include "packages/store_testing.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using LayerPointer = std::shared_ptr<const Layer>;

class LayerBaseTest : public StoreTest {
 protected:
  LayerBaseTest() {
    for (size_t i = 0; i < kFewestToShare; ++i) {
      const std::string name = "p" + std::to_string(i);
      lock(most_, "node_modules/" + name, publish_text(name, "text of " + name));
    }
  }
  // What all sets here have, and one more package.
  Lockfile with(const std::string& name) {
    Lockfile lockfile = most_;
    lock(lockfile, "node_modules/" + name, publish_text(name, "text of " + name));
    return lockfile;
  }
  LayerPointer make(char digit, const Lockfile& lockfile) {
    await(stores_->layers.make(key(digit), recipe_of(lockfile), nullptr));
    return open(digit);
  }
  LayerPointer open(char digit) { return await(stores_->layers.open(key(digit))); }
  std::vector<std::string> trees() const { return names_in(store_path() + "/trees"); }
  std::string tree_path(const LayerPointer& layer) const {
    return store_path() + "/trees/" + layer->info->base + "/node_modules/";
  }
  std::vector<std::string> own(char digit) const { return names_in(layer_path(digit)); }

  // What programs see, by the rules of the overlay.
  static std::map<std::string, std::string> seen(const LayerPointer& layer) {
    std::map<std::string, std::string> files;
    for (size_t i = layer->directories.size(); i-- > 0;) {
      const std::string top = fmt::format("/proc/self/fd/{}/", layer->directories[i].get());
      for (const auto& entry : fs::recursive_directory_iterator{top})
        if (entry.is_regular_file())
          files[entry.path().string().substr(top.size())] = read_file(entry.path().string());
    }
    return files;
  }

  Lockfile most_;
};

TEST_F(LayerBaseTest, FewPackagesStandAlone) {
  Lockfile few = most_;
  few.packages.pop_back();
  const LayerPointer layer = make('1', few);
  EXPECT_EQ(layer->info->base, "");
  EXPECT_THAT(layer->directories, SizeIs(1));
  EXPECT_THAT(trees(), IsEmpty());
}

TEST_F(LayerBaseTest, WhatFollowsHasOnlyItsOwnDirectories) {
  const LayerPointer first = make('1', most_);
  EXPECT_THAT(first->directories, SizeIs(1));
  EXPECT_FALSE(fs::exists(layer_path('1')));
  const LayerPointer second = make('2', with("more"));
  EXPECT_THAT(second->directories, SizeIs(2));
  EXPECT_THAT(own('2'), UnorderedElementsAre("more", ".package-lock.json"));
  EXPECT_THAT(trees(), ElementsAre(first->info->base));
  const auto files = seen(second);
  EXPECT_EQ(files.at("more/index.js"), "text of more");
  EXPECT_EQ(files.at("p0/index.js"), "text of p0");
  EXPECT_THAT(files.at(".package-lock.json"), HasSubstr("node_modules/more"));
  EXPECT_THAT(seen(first), Not(Contains(testing::Key("more/index.js"))));
  EXPECT_EQ(second->info->package_count, kFewestToShare + 1);
}

TEST_F(LayerBaseTest, WhatTwoHaveInCommonIsKeptForOthers) {
  make('1', with("a"));
  const LayerPointer second = make('2', with("b"));
  const LayerPointer third = make('3', with("c"));
  EXPECT_THAT(trees(), SizeIs(2));  // that of the first, and of what it shares with the second
  EXPECT_EQ(second->info->base, third->info->base);
  EXPECT_THAT(own('3'), UnorderedElementsAre("c", ".package-lock.json"));
  for (const auto& [path, text] : seen(third))
    EXPECT_FALSE(path.starts_with("a/") || path.starts_with("b/")) << path;
  restart();
  for (const char digit : {'1', '2', '3'}) EXPECT_TRUE(open(digit)) << digit;
}

TEST_F(LayerBaseTest, TheSamePackagesUnderAnotherKeyAreTheSameTree) {
  const Lockfile lockfile = with("a");
  const LayerPointer first = make('1', lockfile);
  const LayerPointer second = make('2', lockfile);
  EXPECT_EQ(first->info->base, second->info->base);
  EXPECT_EQ(second->info->own_files, 0u);
  EXPECT_FALSE(fs::exists(layer_path('2')));
  EXPECT_EQ(seen(first), seen(second));
  const uint64_t both = await(stores_->layers.usage()).disk_bytes;
  await(stores_->layers.prune(~uint64_t{0}));
  EXPECT_THAT(trees(), SizeIs(1));
  EXPECT_LT(second->info->own_disk_bytes * 2, both - first->info->base_disk_bytes);
}

TEST_F(LayerBaseTest, WhatIsOtherwiseHidesWhatTheBaseHas) {
  make('1', most_);
  Lockfile other = most_;
  const std::string inner = publish_text("inner", "inner");
  lock(other, "node_modules/p0/node_modules/inner", inner);
  lock(other, "node_modules/p1", most_.packages[1].integrity, R"(,"bin":{"p1":"index.js"})");
  const LayerPointer layer = make('2', other);
  EXPECT_THAT(own('2'), UnorderedElementsAre("p0", "p1", ".bin", ".package-lock.json"));
  EXPECT_THAT(names_in(layer_path('2') + "p0"), ElementsAre("node_modules"));
  EXPECT_EQ(look_at(layer_path('2') + "p1/index.js").st_mode & 07777, 0755u);
  EXPECT_EQ(look_at(tree_path(layer) + "p1/index.js").st_mode & 07777, 0644u);
}

TEST_F(LayerBaseTest, OfWhatIsTooDifferentNothingIsShared) {
  const LayerPointer first = make('1', most_);
  Lockfile other;
  for (size_t i = 0; i < kFewestToShare; ++i) {
    const std::string name = "q" + std::to_string(i);
    lock(other, "node_modules/" + name, publish_text(name, name));
  }
  EXPECT_NE(make('2', other)->info->base, first->info->base);
  EXPECT_THAT(trees(), SizeIs(2));
}

TEST_F(LayerBaseTest, DamageOfATreeIsDamageOfAllItsLayers) {
  const Lockfile more = with("more");
  LayerPointer first = make('1', most_);
  make('2', more);
  std::ofstream{tree_path(first) + "p3/index.js"} << "evil";
  EXPECT_THAT(await(stores_->layers.verify(key('2'))), testing::Optional(HasSubstr("p3/index.js")));
  restart();
  EXPECT_FALSE(open('1'));
  const LayerPointer again = make('2', more);
  ASSERT_TRUE(again);
  EXPECT_EQ(seen(again).at("p3/index.js"), "text of p3");
  EXPECT_EQ(await(stores_->layers.verify(key('2'))), "");
  EXPECT_THAT(trees(), SizeIs(2)) << "whoever uses the damaged one keeps it";
  first.reset();
  await(stores_->layers.prune(~uint64_t{0}));
  EXPECT_THAT(trees(), ElementsAre(again->info->base));
}

TEST_F(LayerBaseTest, ADamagedListOfATreeIsFoundBeforeAnythingIsBuiltUponIt) {
  const LayerPointer first = make('1', most_);
  fs::resize_file(store_path() + "/trees/" + first->info->base + "/file-list", 10);
  restart();
  const LayerPointer second = make('2', with("more"));
  ASSERT_TRUE(second);
  EXPECT_EQ(seen(second).at("p0/index.js"), "text of p0");
  EXPECT_FALSE(open('1'));
}

TEST_F(LayerBaseTest, ATreeStaysAsLongAsALayerNeedsIt) {
  make('1', most_);
  LayerPointer second = make('2', with("more"));
  const std::string base = second->info->base;
  auto other = another_process();
  await(other->layers.remove(key('1')));
  await(other->layers.prune(~uint64_t{0}));
  EXPECT_THAT(trees(), ElementsAre(base));
  await(other->layers.prune(0));
  EXPECT_THAT(trees(), ElementsAre(base)) << "it is in use";
  EXPECT_EQ(seen(second).at("p0/index.js"), "text of p0");
  second.reset();
  await(other->layers.prune(0));
  EXPECT_THAT(trees(), IsEmpty());
  stop(*other);
}

TEST_F(LayerBaseTest, TwoProcessesMakeOneTree) {
  const Lockfile lockfile = with("a");
  auto other = another_process();
  TaskGroup makers{loop_.get_executor()};
  makers.spawn("one", stores_->layers.make(key('1'), recipe_of(lockfile), nullptr));
  makers.spawn("two", other->layers.make(key('2'), recipe_of(lockfile), nullptr));
  await(makers.finish());
  EXPECT_THAT(trees(), SizeIs(1));
  EXPECT_TRUE(open('1'));
  EXPECT_TRUE(await(other->layers.open(key('2'))));
  stop(*other);
}

}  // namespace
}  // namespace belljar::packages
