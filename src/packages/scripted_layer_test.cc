#include "packages/scripted_layer.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "packages/layer_base.h"
#include "packages/store_testing.h"

namespace belljar::packages {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Layers with scripts that are functions of the test.
class ScriptedLayerTest : public StoreTest {
 protected:
  using Script = std::function<void(const fs::path& node_modules)>;

  // As a sandbox does: the scripts get a tree of their own.
  Task<ScriptOutcome> run_scripts(ScriptWork work, InstallProgress) {
    plan_ = work.plan;
    const std::string handle = fmt::format("/proc/self/fd/{}", work.directories->front().get());
    const TestDirectory place;
    const std::string tree = place.path() + "/node_modules";
    fs::copy(fs::read_symlink(handle), tree,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    script_(tree);
    const Fd changed = open_directory(tree);
    auto collect = [&work, &changed] { work.collect(changed.get()); };
    co_await run_blocking(collect);
    co_return ScriptOutcome{"printed", failed_};
  }

  void make(char digit, const Lockfile& lockfile, std::vector<std::string> allowed) {
    LayerRecipe recipe = recipe_of(lockfile);
    recipe.scripts.allowed = std::move(allowed);
    recipe.scripts.report = report_;
    recipe.scripts.run = [this](ScriptWork work, InstallProgress progress) {
      return run_scripts(std::move(work), std::move(progress));
    };
    await(stores_->layers.make(key(digit), std::move(recipe), nullptr));
  }

  std::string publish_scripts(const std::string& name, const std::string& package_json) {
    return publish(name, "1.0.0", {{"p/package.json", package_json}, {"p/index.js", "text"}});
  }
  Lockfile one_package() {
    Lockfile lockfile;
    lock(lockfile, "node_modules/a", publish_scripts("a", R"({"scripts":{"install":"x"}})"));
    return lockfile;
  }
  static void write(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    fs::remove(path);
    std::ofstream{path} << text;
  }

  Script script_ = [](const fs::path&) {};
  ScriptPlan plan_;
  std::vector<std::string> failed_;  // what is said of the scripts
  std::shared_ptr<ScriptReport> report_ = std::make_shared<ScriptReport>();
};

TEST_F(ScriptedLayerTest, HasWhatTheScriptsMadeAndOthersDoNot) {
  const Lockfile lockfile = one_package();
  script_ = [](const fs::path& tree) {
    write(tree / "a/index.js", "changed");
    write(tree / "a/build/new.node", "new");
    write(tree / ".package-lock.json", "{}");
    fs::create_symlink("../a/build/new.node", tree / "a/link");
    fs::create_symlink("/etc/passwd", tree / "a/out");
    fs::remove(tree / "a/package.json");
  };
  make('1', lockfile, {"a"});
  make('2', lockfile, {});
  EXPECT_EQ(read_file(layer_path('1') + "a/index.js"), "changed");
  EXPECT_EQ(read_file(layer_path('1') + "a/build/new.node"), "new");
  EXPECT_FALSE(fs::exists(layer_path('1') + "a/package.json"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(layer_path('1') + "a/out")));
  EXPECT_EQ(fs::read_symlink(layer_path('1') + "a/link"), "../a/build/new.node");
  EXPECT_THAT(read_file(layer_path('1') + ".package-lock.json"), HasSubstr("node_modules/a"));
  EXPECT_EQ(read_file(layer_path('2') + "a/index.js"), "text");
  EXPECT_FALSE(fs::exists(layer_path('2') + "a/build"));
  EXPECT_EQ(report_->output, "printed");
  EXPECT_THAT(report_->left_out, ElementsAre(HasSubstr("a/out is a link")));
  restart();
  for (const char digit : {'1', '2'}) {
    EXPECT_TRUE(await(stores_->layers.open(key(digit)))) << "it is as its manifest says";
    EXPECT_EQ(await(stores_->layers.verify(key(digit))), "");
  }
  EXPECT_THAT(names_in(store_path() + "/tmp"), testing::SizeIs(0));
}

TEST_F(ScriptedLayerTest, SharesWhatTheScriptsDidNotTouch) {
  const Lockfile lockfile = one_package();
  script_ = [](const fs::path& tree) { write(tree / "a/new.js", "new"); };
  make('1', lockfile, {"a"});
  make('2', lockfile, {});
  EXPECT_EQ(look_at(layer_path('1') + "a/index.js").st_ino,
            look_at(layer_path('2') + "a/index.js").st_ino);
}

TEST_F(ScriptedLayerTest, StandsAloneWhateverOthersShare) {
  Lockfile lockfile = one_package();
  for (size_t i = 0; i < kFewestToShare; ++i) {
    const std::string name = "p" + std::to_string(i);
    lock(lockfile, "node_modules/" + name, publish_text(name, "text of " + name));
  }
  script_ = [](const fs::path& tree) {
    EXPECT_EQ(read_file(tree / "p0/index.js"), "text of p0") << "they see all of it";
    write(tree / "a/index.js", "changed");
    fs::remove_all(tree / "p0");
    fs::remove_all(tree / "p1");
    write(tree / "p1", "a file");
    fs::remove_all(tree / "p2");
    fs::create_symlink("p3", tree / "p2");
    fs::remove(tree / "p4/index.js");
    write(tree / "p4/other.js", "other");
  };
  make('1', lockfile, {"a"});
  EXPECT_THAT(names_in(store_path() + "/trees"), testing::IsEmpty()) << "nobody else wants it";
  make('2', lockfile, {});
  make('3', lockfile, {"a"});
  const auto plain = await(stores_->layers.open(key('2')));
  for (const char digit : {'1', '3'}) {
    const auto layer = await(stores_->layers.open(key(digit)));
    EXPECT_EQ(layer->info->base, "");
    EXPECT_THAT(layer->directories, testing::SizeIs(1));
    EXPECT_EQ(layer->info->packages.size(), plain->info->packages.size());
    EXPECT_EQ(read_file(layer_path(digit) + "a/index.js"), "changed");
    EXPECT_FALSE(fs::exists(layer_path(digit) + "p0"));
    EXPECT_EQ(read_file(layer_path(digit) + "p1"), "a file");
    EXPECT_EQ(fs::read_symlink(layer_path(digit) + "p2"), "p3");
    EXPECT_THAT(names_in(layer_path(digit) + "p4"), ElementsAre("other.js"));
    EXPECT_EQ(await(stores_->layers.verify(key(digit))), "");
  }
  const std::string tree = store_path() + "/trees/" + plain->info->base + "/node_modules/";
  EXPECT_EQ(read_file(tree + "a/index.js"), "text");
  EXPECT_EQ(look_at(layer_path('1') + "p5/index.js").st_ino, look_at(tree + "p5/index.js").st_ino);
}

TEST_F(ScriptedLayerTest, CountsWhatTheScriptsMadeAsItsOwn) {
  const Lockfile lockfile = one_package();
  const std::string large(100'000, 'x');
  make('1', lockfile, {"a"});
  script_ = [&large](const fs::path& tree) { write(tree / "a/new.node", large); };
  make('2', lockfile, {"a"});
  const LayerInfo idle = *await(stores_->layers.open(key('1')))->info;
  const LayerInfo busy = *await(stores_->layers.open(key('2')))->info;
  EXPECT_EQ(busy.own_disk_bytes, idle.own_disk_bytes + in_blocks(large.size()));
  EXPECT_EQ(busy.bytes, idle.bytes + large.size());
  EXPECT_EQ(busy.files, idle.files + 1);
  EXPECT_EQ(await(stores_->layers.usage()).disk_bytes,
            idle.own_disk_bytes + busy.own_disk_bytes + idle.packages.at(0).disk_bytes);
  await(stores_->layers.prune(0));
  EXPECT_EQ(await(stores_->layers.usage()).disk_bytes, 0u);
}

TEST_F(ScriptedLayerTest, DamageOfWhatAScriptMadeIsFound) {
  script_ = [](const fs::path& tree) { write(tree / "a/new.js", "new"); };
  make('1', one_package(), {"a"});
  std::ofstream{layer_path('1') + "a/new.js"} << "evi";
  restart();
  EXPECT_THAT(*await(stores_->layers.verify(key('1'))), HasSubstr("a/new.js"));
}

TEST_F(ScriptedLayerTest, IsNotMadeIfAScriptFails) {
  script_ = [](const fs::path&) { fail(Code::invalid, "the script failed"); };
  const Lockfile lockfile = one_package();
  EXPECT_THROW(make('1', lockfile, {"a"}), Error);
  EXPECT_FALSE(await(stores_->layers.open(key('1'))));
}

TEST_F(ScriptedLayerTest, LacksOptionalPackagesWhoseScriptsFailed) {
  // a -?> chain -> broken -> only; broken -> shared, a -> shared. Commands of all.
  Lockfile lockfile;
  const auto add = [this, &lockfile](const std::string& path, const std::string& more) {
    const std::string name{folder_name(path)};
    lock(lockfile, "node_modules/" + path, publish_scripts(name, R"({"scripts":{"install":"x"}})"),
         fmt::format(R"(,"bin":{{"{}":"index.js"}}{})", name, more));
  };
  constexpr const char* kOptional = R"(,"optional":true)";
  add("a", R"(,"dependencies":{"shared":"1"},"optionalDependencies":{"chain":"1"})");
  add("chain", fmt::format(R"({},"dependencies":{{"broken":"1"}})", kOptional));
  add("broken", fmt::format(R"({},"dependencies":{{"only":"1","shared":"1"}})", kOptional));
  add("broken/node_modules/inner", kOptional);
  add("only", kOptional);
  add("shared", "");
  lockfile.dependencies = {{"a", "1"}};
  failed_ = {"node_modules/broken"};
  script_ = [](const fs::path& tree) {
    write(tree / "broken/half.node", "half");
    fs::create_symlink("half.node", tree / "broken/link");
    write(tree / "shared/made.node", "made");
    write(tree / "brokenly/made.node", "made");
  };
  make('1', lockfile, {"broken", "shared"});
  const auto layer = await(stores_->layers.open(key('1')));
  const std::string place = layer_path('1');
  EXPECT_THAT(names_in(place), testing::UnorderedElementsAre("a", "shared", "brokenly", ".bin",
                                                             ".package-lock.json"));
  EXPECT_EQ(read_file(place + "shared/made.node"), "made");
  EXPECT_THAT(names_in(place + ".bin"), testing::UnorderedElementsAre("a", "shared"));
  EXPECT_THAT(read_file(place + ".package-lock.json"), Not(HasSubstr("node_modules/only")));
  EXPECT_EQ(layer->info->package_count, 2u);
  EXPECT_EQ(*layer->lockfile, lockfile.serialize()) << "as npm, which may try again elsewhere";
  EXPECT_THAT(report_->failed, ElementsAre("node_modules/broken"));
  restart();
  EXPECT_EQ(await(stores_->layers.verify(key('1'))), "");
}

TEST_F(ScriptedLayerTest, PlansWhatIsAllowedAndHasScripts) {
  Lockfile lockfile;
  const auto add = [this, &lockfile](const std::string& name, const std::string& package_json,
                                     const std::string& more = "") {
    lock(lockfile, "node_modules/" + name, publish_scripts(name, package_json), more);
  };
  const auto add_gyp = [this, &lockfile](const std::string& name, const std::string& package_json) {
    lock(lockfile, "node_modules/" + name,
         publish(name, "1.0.0", {{"p/package.json", package_json}, {"p/binding.gyp", "{}"}}));
  };
  add("after", R"({"scripts":{"postinstall":"x"}})");
  add("before", R"({"scripts":{"preinstall":"x"}})");
  add("broken", "{");
  add("empty", R"({"scripts":{"install":""}})");
  add("maybe", R"({"scripts":{"install":"x"}})", R"(,"optional":true)");
  add("not-allowed", R"({"scripts":{"install":"x"}})");
  add("test", R"({"scripts":{"test":"x","prepare":"x"}})");
  lock(lockfile, "node_modules/alias",
       publish_scripts("not-allowed-either", R"({"scripts":{"install":"x"}})"),
       R"(,"name":"not-allowed-either")");
  add_gyp("gyp", "{}");
  add_gyp("no-gyp", R"({"gypfile":false})");
  make('1', lockfile,
       {"after", "before", "broken", "empty", "maybe", "test", "alias", "gyp", "no-gyp"});
  EXPECT_THAT(plan_.required,
              ElementsAre("node_modules/after", "node_modules/before", "node_modules/gyp"));
  EXPECT_THAT(plan_.optional, ElementsAre("node_modules/maybe"));
}

}  // namespace
}  // namespace belljar::packages
