#pragma once

// Threads do not survive fork(). A Node.js that is forked nevertheless has to be kept from waiting
// for those that are gone, its "ghosts": functions of the C library are replaced for that by
// preloading this library.
namespace belljar::zygote {

// True if everything that was to be remembered could be.
bool threads_are_known();

// In the child, before anything else: whoever was a thread of the parent is a ghost from now on.
void lay_ghosts();

}  // namespace belljar::zygote
