// Boost.JSON compiled with the instrumentation: with the parser of the system's library the fuzzer
// would not see which bytes bring it further. Takes the place of the library at link time.
#include <boost/json/src.hpp>
