#include "drivers/linux/zygote/node_abi.h"

#include <dlfcn.h>

namespace belljar::zygote {

namespace {

template <class Symbol>
bool find(const char* name, Symbol& symbol) {
  symbol = reinterpret_cast<Symbol>(::dlsym(RTLD_DEFAULT, name));
  return symbol != nullptr;
}

}  // namespace

bool find_symbols(NodeSymbols& symbols) {
  // The names of these functions as g++ and clang write them.
  return find("_ZN2v87Isolate10GetCurrentEv", symbols.isolate_current) &&
         find("_ZN2v87Isolate17GetCurrentContextEv", symbols.isolate_context) &&
         find("_ZN2v87Isolate34RequestGarbageCollectionForTestingENS0_21GarbageCollectionTypeE",
              symbols.collect_garbage) &&
         find("_ZN4node21GetCurrentEnvironmentEN2v85LocalINS0_7ContextEEE",
              symbols.environment_of) &&
         find("_ZN4node21SetProcessExitHandlerEPNS_11EnvironmentEOSt8functionIFvS1_iEE",
              symbols.set_exit_handler) &&
         find(
             "_ZN4node12MakeCallbackEPN2v87IsolateENS0_5LocalINS0_6ObjectEEENS3_INS0_8FunctionEEEi"
             "PNS3_INS0_5ValueEEENS_13async_contextE",
             symbols.make_callback) &&
         find("_ZN4node12NodePlatform20FlushForegroundTasksEPN2v87IsolateE",
              symbols.flush_foreground_tasks) &&
         find("_ZTVN4node12NodePlatformE", symbols.platform_table) &&
         find("_ZN4node12NodePlatform10DrainTasksEPN2v87IsolateE", symbols.drain_tasks) &&
         find(
             "_ZN4node12NodePlatform26PostTaskOnWorkerThreadImplEN2v812TaskPriorityE"
             "St10unique_ptrINS1_4TaskESt14default_deleteIS4_EERKNS1_14SourceLocationE",
             symbols.post_task) &&
         find(
             "_ZN4node12NodePlatform33PostDelayedTaskOnWorkerThreadImplEN2v812TaskPriorityE"
             "St10unique_ptrINS1_4TaskESt14default_deleteIS4_EEdRKNS1_14SourceLocationE",
             symbols.post_delayed_task) &&
         find("_ZN4node11per_process15node_start_timeE", symbols.start_time);
}

}  // namespace belljar::zygote
