# Warnings, hardening and sanitizers: the flags every target of ours is compiled with.
add_library(belljar_options INTERFACE)
target_compile_options(belljar_options INTERFACE
  -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wformat=2 -Werror -fstack-protector-strong)
target_compile_definitions(belljar_options INTERFACE _GNU_SOURCE)
if(NOT BELLJAR_SANITIZE)
  target_compile_options(belljar_options INTERFACE $<$<CONFIG:Release>:-U_FORTIFY_SOURCE>
    $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=3>)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(belljar_options INTERFACE -fcf-protection=full)
  endif()
  target_link_options(belljar_options INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_link_options(belljar_options INTERFACE -fuse-ld=lld-19)
endif()
if(BELLJAR_SANITIZE)
  # A target with the property BELLJAR_UNSANITIZED does without.
  set(sanitize $<$<NOT:$<BOOL:$<TARGET_PROPERTY:BELLJAR_UNSANITIZED>>>:-fsanitize=${BELLJAR_SANITIZE}>)
  target_compile_options(belljar_options INTERFACE ${sanitize} -fno-omit-frame-pointer)
  target_link_options(belljar_options INTERFACE ${sanitize})
  # Asio recycles handler memory and coroutine frames, which hides use-after-free from the sanitizers.
  target_compile_definitions(belljar_options INTERFACE
    BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
  # Asio counts references with std::atomic and a fence, which ThreadSanitizer does not understand; otherwise without a fence.
  if(BELLJAR_SANITIZE STREQUAL "thread")
    target_compile_definitions(belljar_options INTERFACE BOOST_ASIO_DISABLE_STD_ATOMIC)
  endif()
endif()
