#include "packages/layer_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "packages/store_testing.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

using LayerPointer = std::shared_ptr<const Layer>;

Task<LayerRecipe> give(LayerRecipe recipe, int& calls) {
  ++calls;
  co_return recipe;
}

Task<LayerRecipe> give_nothing() {
  fail(Code::unavailable, "no registry");
  co_return LayerRecipe{};
}

Task<> ensure_into(LayerStore& layers, std::string key, LayerStore::Resolve resolve,
                   LayerPointer& to) {
  const InstallProgress silent;
  to = co_await layers.ensure(std::move(key), std::move(resolve), silent);
}

class LayerStoreTest : public StoreTest {
 protected:
  void make(char digit, const Lockfile& lockfile, int64_t resolved_at = 1000) {
    await(stores_->layers.make(key(digit), recipe_of(lockfile, resolved_at), nullptr));
  }
  LayerPointer open(char digit) { return await(stores_->layers.open(key(digit))); }

  LayerStore::Resolve resolve(const Lockfile& lockfile, int64_t resolved_at = 1000) {
    return [this, lockfile, resolved_at](const InstallProgress&) {
      return give(recipe_of(lockfile, resolved_at), resolved_);
    };
  }
  LayerPointer ensure(char digit, const Lockfile& lockfile, int64_t not_before = 0) {
    return await(stores_->layers.ensure(
        key(digit), resolve(lockfile, std::max<int64_t>(1000, not_before)), nullptr, not_before));
  }
  Lockfile one_package(const std::string& text = "text") {
    Lockfile lockfile;
    lock(lockfile, "node_modules/a", publish_text("a", text));
    return lockfile;
  }
  void use_last_at(char digit, time_t when) const {
    const timespec times[2] = {{when, 0}, {when, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (store_path() + "/layers/" + key(digit)).c_str(), times, 0), 0);
  }

  int resolved_ = 0;
};

TEST_F(LayerStoreTest, LaysPackagesOutAsNpmDoes) {
  const std::string a = publish(
      "a", "1.0.0", {{"p/cli.js", "#!x\r\n1\r\n"}, {"p/lib/i.js", "i"}, {"p/run", "r", 0755}});
  const std::string b = publish_text("@s/b", "b");
  Lockfile lockfile;
  lock(lockfile, "node_modules/a", a,
       R"(,"bin":{"a-cli":"cli.js","run":"./run","none":"missing.js"})");
  lock(lockfile, "node_modules/@s/b", b, R"(,"bin":"index.js")");
  lock(lockfile, "node_modules/alias", a, R"(,"name":"a","bin":{"a-cli":"run"})");
  lock(lockfile, "node_modules/alias/node_modules/@s/b", b, R"(,"bin":{"inner":"index.js"})");
  make('1', lockfile);
  const std::string top = layer_path('1');
  EXPECT_EQ(read_file(top + "a/lib/i.js"), "i");
  EXPECT_EQ(read_file(top + "alias/lib/i.js"), "i");
  EXPECT_EQ(read_file(top + "alias/node_modules/@s/b/index.js"), "b");
  EXPECT_THAT(names_in(top + ".bin"), UnorderedElementsAre("a-cli", "run", "b"));
  EXPECT_EQ(fs::read_symlink(top + ".bin/a-cli"), "../a/cli.js");
  EXPECT_EQ(fs::read_symlink(top + ".bin/b"), "../@s/b/index.js");
  EXPECT_EQ(fs::read_symlink(top + "alias/node_modules/.bin/inner"), "../@s/b/index.js");
  EXPECT_EQ(look_at(top + "a").st_mode & 07777, 0755u);
  const LayerPointer layer = open('1');
  ASSERT_TRUE(layer);
  EXPECT_EQ(*layer->lockfile, lockfile.serialize());
  EXPECT_EQ(layer->info->package_count, 4u);
  EXPECT_EQ(layer->info->resolved_at, 1000);
  EXPECT_EQ(layer->info->dependencies.at(0).name, "a");
  struct stat inside {};
  EXPECT_EQ(::fstatat(layer->directories.at(0).get(), "a/lib/i.js", &inside, 0), 0);
}

TEST_F(LayerStoreTest, MakesCommandsExecutableWithoutTouchingTheContent) {
  const std::string a = publish("a", "1.0.0", {{"p/cli.js", "#!x\r\n1\r\n"}, {"p/run", "r", 0755}});
  Lockfile with, without;
  lock(with, "node_modules/a", a, R"(,"bin":{"cli":"cli.js","run":"run"})");
  lock(without, "node_modules/a", a);
  make('1', with);
  make('2', without);
  EXPECT_EQ(look_at(layer_path('1') + "a/cli.js").st_mode & 07777, 0755u);
  EXPECT_EQ(read_file(layer_path('1') + "a/cli.js"), "#!x\n1\r\n");
  EXPECT_EQ(look_at(layer_path('2') + "a/cli.js").st_mode & 07777, 0644u);
  EXPECT_EQ(read_file(layer_path('2') + "a/cli.js"), "#!x\r\n1\r\n");
  EXPECT_EQ(look_at(layer_path('1') + "a/run").st_ino, look_at(layer_path('2') + "a/run").st_ino);
  restart();
  EXPECT_TRUE(open('1'));
}

TEST_F(LayerStoreTest, SharesTheFilesOfAPackage) {
  const std::string a = publish_text("a", "text");
  Lockfile one, two;
  lock(one, "node_modules/a", a);
  lock(two, "node_modules/a", a);
  lock(two, "node_modules/other", a, R"(,"name":"a")");
  make('1', one);
  make('2', two);
  const ino_t inode = look_at(layer_path('1') + "a/index.js").st_ino;
  EXPECT_EQ(look_at(layer_path('2') + "a/index.js").st_ino, inode);
  EXPECT_EQ(look_at(layer_path('2') + "other/index.js").st_ino, inode);
  EXPECT_EQ(downloads(), 1u);
  const StoreUsage usage = await(stores_->layers.usage());
  const auto layers = await(stores_->layers.list());
  ASSERT_THAT(layers, SizeIs(2));
  EXPECT_EQ(usage.disk_bytes,
            layers[0].info.own_disk_bytes + layers[1].info.own_disk_bytes + 2 * 4096);
}

TEST_F(LayerStoreTest, WritesTheHiddenLockfileOfNpmOverWhatIsThere) {
  Lockfile lockfile = one_package();
  lock(lockfile, "node_modules/foreign", sha512_integrity("x"),
       R"(,"optional":true,"os":["win32"])");
  make('1', lockfile);
  const Lockfile hidden = Lockfile::parse(read_file(layer_path('1') + ".package-lock.json"));
  ASSERT_THAT(hidden.packages, SizeIs(1));
  EXPECT_EQ(hidden.packages[0].path, "node_modules/a");
  EXPECT_FALSE(fs::exists(layer_path('1') + "foreign"));
  // npm believes it if no directory is younger.
  const timespec written = look_at(layer_path('1') + ".package-lock.json").st_mtim;
  const timespec changed = look_at(layer_path('1')).st_mtim;
  EXPECT_LE(std::pair(changed.tv_sec, changed.tv_nsec), std::pair(written.tv_sec, written.tv_nsec));
}

TEST_F(LayerStoreTest, TakesBundlesFromTheirPackage) {
  const std::string a = publish(
      "a", "1.0.0",
      {{"p/index.js", "a"}, {"p/node_modules/b/b.js", "b"}, {"p/node_modules/c/c.js", "old"}});
  Lockfile lockfile;
  lock(lockfile, "node_modules/a", a);
  lock(lockfile, "node_modules/a/node_modules/b", "", R"(,"inBundle":true,"bin":{"b":"b.js"})");
  lock(lockfile, "node_modules/a/node_modules/c", publish("c", "1.0.0", {{"p/new.js", "new"}}));
  make('1', lockfile);
  EXPECT_EQ(fs::read_symlink(layer_path('1') + "a/node_modules/.bin/b"), "../b/b.js");
  EXPECT_EQ(look_at(layer_path('1') + "a/node_modules/b/b.js").st_mode & 07777, 0755u);
  EXPECT_THAT(names_in(layer_path('1') + "a/node_modules/c"), ElementsAre("new.js"));
  restart();
  EXPECT_TRUE(open('1'));
}

TEST_F(LayerStoreTest, IsThereForAnotherProcessAndAfterwards) {
  const Lockfile lockfile = one_package();
  EXPECT_FALSE(open('1'));
  make('1', lockfile);
  restart();
  const LayerPointer layer = ensure('1', lockfile);
  ASSERT_TRUE(layer);
  EXPECT_EQ(*layer->lockfile, lockfile.serialize());
  EXPECT_EQ(resolved_, 0);
}

// One way to damage a layer.
struct Damage {
  const char* name;
  void (*cause)(const std::string& layer);
};
void PrintTo(const Damage& damage, std::ostream* out) {
  *out << damage.name;
}

class DamagedLayer : public LayerStoreTest, public testing::WithParamInterface<Damage> {};

TEST_P(DamagedLayer, IsFoundByANewProcessAndMadeAgain) {
  const std::string a = publish("a", "1.0.0", {{"p/index.js", "text"}, {"p/lib/x.js", "x"}});
  Lockfile lockfile;
  lock(lockfile, "node_modules/a", a, R"(,"bin":{"a":"index.js"})");
  make('1', lockfile);
  GetParam().cause(store_path() + "/layers/" + key('1'));
  restart();
  EXPECT_FALSE(open('1'));
  const LayerPointer layer = ensure('1', lockfile);
  ASSERT_TRUE(layer);
  EXPECT_EQ(resolved_, 1);
  EXPECT_EQ(read_file(layer_path('1') + "a/lib/x.js"), "x");
  EXPECT_EQ(look_at(layer_path('1') + "a/lib/x.js").st_mode & 07777, 0644u);
  EXPECT_EQ(await(stores_->layers.verify(key('1'))), "");
  EXPECT_THAT(names_in(store_path() + "/layers"), ElementsAre(key('1')));
}

INSTANTIATE_TEST_SUITE_P(
    Every, DamagedLayer,
    testing::Values(
        Damage{
            "Content",
            [](const std::string& at) { std::ofstream{at + "/node_modules/a/lib/x.js"} << "y"; }},
        Damage{
            "Size",
            [](const std::string& at) { std::ofstream{at + "/node_modules/a/lib/x.js"} << "xx"; }},
        Damage{"Mode",
               [](const std::string& at) {
                 ::chmod((at + "/node_modules/a/lib/x.js").c_str(), 0666);
               }},
        Damage{"Missing",
               [](const std::string& at) { fs::remove(at + "/node_modules/a/lib/x.js"); }},
        Damage{"More", [](const std::string& at) { std::ofstream{at + "/node_modules/a/more"}; }},
        Damage{
            "EmptyFolder",
            [](const std::string& at) { fs::create_directory(at + "/node_modules/a/lib/empty"); }},
        Damage{"FileBecameLink",
               [](const std::string& at) {
                 fs::rename(at + "/node_modules/a/lib/x.js", at + "/x.js");
                 fs::create_symlink("../../../x.js", at + "/node_modules/a/lib/x.js");
               }},
        Damage{"FolderBecameLink",
               [](const std::string& at) {
                 fs::rename(at + "/node_modules/a/lib", at + "/lib");
                 fs::create_directory_symlink("../../lib", at + "/node_modules/a/lib");
               }},
        Damage{"Link",
               [](const std::string& at) {
                 fs::remove(at + "/node_modules/.bin/a");
                 fs::create_symlink("../a/lib/x.js", at + "/node_modules/.bin/a");
               }},
        Damage{"Lockfile",
               [](const std::string& at) { std::ofstream{at + "/package-lock.json"} << "{}"; }},
        Damage{"FileList", [](const std::string& at) { fs::resize_file(at + "/file-list", 10); }},
        Damage{"Manifest",
               [](const std::string& at) { fs::resize_file(at + "/manifest.json", 10); }},
        Damage{"NoManifest", [](const std::string& at) { fs::remove(at + "/manifest.json"); }}),
    [](const auto& info) { return info.param.name; });

TEST_F(LayerStoreTest, DamageOfSharedFilesIsDamageOfTheContent) {
  const Lockfile lockfile = one_package();
  make('1', lockfile);
  std::ofstream{layer_path('1') + "a/index.js"} << "evil";
  EXPECT_THAT(await(stores_->layers.verify(key('1'))),
              testing::Optional(HasSubstr("has other content: a/index.js")));
  EXPECT_EQ(await(stores_->layers.verify(key('1'))), std::nullopt);
  ASSERT_TRUE(ensure('1', lockfile));
  EXPECT_EQ(read_file(layer_path('1') + "a/index.js"), "text");
  EXPECT_EQ(downloads(), 2u);
}

TEST_F(LayerStoreTest, IsMadeOnceForAllCallers) {
  const Lockfile lockfile = one_package();
  std::vector<LayerPointer> layers(32);
  TaskGroup callers{loop_.get_executor()};
  for (LayerPointer& layer : layers)
    callers.spawn("caller", ensure_into(stores_->layers, key('1'), resolve(lockfile), layer));
  await(callers.finish());
  EXPECT_EQ(resolved_, 1);
  EXPECT_EQ(downloads(), 1u);
  for (const LayerPointer& layer : layers) EXPECT_TRUE(layer);
}

TEST_F(LayerStoreTest, IsMadeOnceByTwoProcesses) {
  const Lockfile lockfile = one_package();
  auto other = another_process();
  LayerPointer one, two;
  TaskGroup callers{loop_.get_executor()};
  callers.spawn("one", ensure_into(stores_->layers, key('1'), resolve(lockfile), one));
  callers.spawn("two", ensure_into(other->layers, key('1'), resolve(lockfile), two));
  await(callers.finish());
  EXPECT_TRUE(one && two);
  EXPECT_EQ(resolved_, 1);
  EXPECT_THAT(names_in(store_path() + "/locks"), ElementsAre("contents"));
  stop(*other);
}

// Two processes that make the same layer without knowing of each other: no locks on network disks.
TEST_F(LayerStoreTest, SurvivesARaceWithoutLocks) {
  const Lockfile lockfile = one_package();
  auto other = another_process();
  TaskGroup callers{loop_.get_executor()};
  callers.spawn("one", stores_->layers.make(key('1'), recipe_of(lockfile), nullptr));
  callers.spawn("two", other->layers.make(key('1'), recipe_of(lockfile), nullptr));
  await(callers.finish());
  EXPECT_TRUE(open('1'));
  EXPECT_TRUE(await(other->layers.open(key('1'))));
  EXPECT_THAT(names_in(store_path() + "/layers"), ElementsAre(key('1')));
  EXPECT_THAT(names_in(store_path() + "/contents"), SizeIs(1));
  stop(*other);
}

TEST_F(LayerStoreTest, AFailedInstallLeavesNothingAndCanBeRepeated) {
  const Lockfile lockfile = one_package();
  const auto refuse = [](const InstallProgress&) { return give_nothing(); };
  EXPECT_THROW(await(stores_->layers.ensure(key('1'), refuse, nullptr)), Error);
  EXPECT_FALSE(open('1'));
  EXPECT_THAT(names_in(store_path() + "/locks"), IsEmpty());
  EXPECT_TRUE(ensure('1', lockfile));
}

TEST_F(LayerStoreTest, IsResolvedAgainWhenItIsTooOld) {
  const Lockfile lockfile = one_package();
  make('1', lockfile, 1000);
  const ino_t before = look_at(layer_path('1')).st_ino;
  const LayerPointer same = ensure('1', lockfile, 2000);
  EXPECT_EQ(same->info->resolved_at, 2000);
  EXPECT_EQ(look_at(layer_path('1')).st_ino, before);
  EXPECT_EQ(resolved_, 1);
  Lockfile newer;
  lock(newer, "node_modules/b", publish_text("b", "new"));
  const LayerPointer other = ensure('1', newer, 3000);
  EXPECT_EQ(*other->lockfile, newer.serialize());
  // Whoever uses the old one still has it, until nobody does.
  struct stat status {};
  EXPECT_EQ(::fstatat(same->directories.at(0).get(), "a/index.js", &status, 0), 0);
  EXPECT_NE(::fstatat(other->directories.at(0).get(), "a/index.js", &status, 0), 0);
  restart();
  EXPECT_EQ(open('1')->info->resolved_at, 3000);
}

TEST_F(LayerStoreTest, IsNotRemovedWhileItIsInUse) {
  make('1', one_package());
  EXPECT_FALSE(await(stores_->layers.remove(key('2'))));
  LayerPointer layer = open('1');
  auto other = another_process();
  EXPECT_THROW(await(other->layers.remove(key('1'))), Error);
  EXPECT_TRUE(await(other->layers.list()).at(0).in_use);
  layer.reset();
  EXPECT_FALSE(await(other->layers.list()).at(0).in_use);
  EXPECT_TRUE(await(other->layers.remove(key('1'))));
  EXPECT_FALSE(open('1'));
  stop(*other);
}

TEST_F(LayerStoreTest, PruningRemovesTheLeastRecentlyUsedButNothingInUse) {
  const std::string shared = publish_text("a", "shared");
  for (const char digit : {'1', '2', '3'}) {
    Lockfile lockfile;
    const std::string name = std::string{"own"} + digit;
    lock(lockfile, "node_modules/a", shared);
    lock(lockfile, "node_modules/" + name, publish_text(name, name));
    make(digit, lockfile);
  }
  use_last_at('1', 300);
  use_last_at('2', 100);
  use_last_at('3', 200);
  const auto used = await(stores_->layers.list());
  EXPECT_EQ(used.at(0).info.key, key('1'));
  EXPECT_EQ(used.at(2).info.key, key('2'));
  const uint64_t all = await(stores_->layers.usage()).disk_bytes;
  auto other = another_process();
  // Nothing to do.
  EXPECT_EQ(await(other->layers.prune(all)).removed_layers, 0u);
  // 2 is the oldest, but in use.
  const LayerPointer in_use = open('2');
  use_last_at('2', 100);
  const PruneResult result = await(other->layers.prune(all - 1));
  EXPECT_EQ(result.removed_layers, 1u);
  EXPECT_EQ(result.removed_contents, 1u);
  EXPECT_EQ(result.before.disk_bytes, all);
  EXPECT_THAT(names_in(store_path() + "/layers"), UnorderedElementsAre(key('1'), key('2')));
  EXPECT_EQ(await(other->layers.prune(0)).after.layers, 1u);
  EXPECT_THAT(names_in(store_path() + "/layers"), ElementsAre(key('2')));
  EXPECT_THAT(names_in(store_path() + "/contents"), SizeIs(2));
  EXPECT_EQ(await(other->layers.verify(key('2'))), "");
  stop(*other);
}

TEST_F(LayerStoreTest, PruningLeavesPackagesToWhoeverInstallsThem) {
  const Lockfile lockfile = one_package();
  await(stores_->packages.fetch(lockfile.packages, nullptr));
  auto installing = stores_->directory.try_lock("contents", StoreDirectory::Lock::shared);
  EXPECT_EQ(await(stores_->layers.prune(0)).removed_contents, 0u);
  installing.reset();
  EXPECT_EQ(await(stores_->layers.prune(0)).removed_contents, 1u);
}

TEST_F(LayerStoreTest, UsingItIsRemembered) {
  make('1', one_package());
  use_last_at('1', 100);
  const time_t before = std::time(nullptr);
  open('1');
  EXPECT_GE(await(stores_->layers.list()).at(0).last_used, before);
}

TEST_F(LayerStoreTest, DeletesWhatACrashHasLeft) {
  fs::create_directories(store_path() + "/tmp/dead/half/node_modules");
  fs::create_directories(store_path() + "/layers/" + key('9') + ".0123456789abcdef/node_modules");
  make('1', one_package());
  EXPECT_THAT(names_in(store_path() + "/tmp"), SizeIs(1));
  EXPECT_THAT(names_in(stores_->directory.own()), IsEmpty());
  EXPECT_THAT(names_in(store_path() + "/layers"), ElementsAre(key('1')));
  stop();
  EXPECT_THAT(names_in(store_path() + "/tmp"), IsEmpty());
}

TEST(LayerKey, DependsOnEverythingThatMatters) {
  const LayerTarget target{22, {"linux", "x64", "glibc"}};
  using List = std::vector<Dependency>;
  const List both{{"a", "1"}, {"b", "2"}};
  const std::string key = key_of(both, target);
  EXPECT_TRUE(is_layer_key(key));
  EXPECT_EQ(key_of(List{{"b", "2"}, {"a", "1"}}, target), key);
  EXPECT_NE(key_of(List{{"a", "1"}}, target), key);
  EXPECT_NE(key_of(List{{"a", "12"}, {"b", ""}}, target), key);
  EXPECT_NE(key_of(both, {20, {"linux", "x64", "glibc"}}), key);
  EXPECT_NE(key_of(both, {22, {"linux", "arm64", "glibc"}}), key);
  EXPECT_NE(key_of(both, {22, {"linux", "x64", "musl"}}), key);
  Lockfile lockfile;
  lockfile.dependencies = both;
  EXPECT_NE(key_of(lockfile, target), key);
  EXPECT_FALSE(is_layer_key("../" + key.substr(3)));
}

}  // namespace
}  // namespace belljar::packages
