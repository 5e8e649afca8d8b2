# Parts of tests/rootless/run, tests/network/run and tests/vm/guest; sourced, never run. A mode is what the user has: "plain" nothing, "ids"
# subordinate ids, "cgroup" a cgroup (v2) of the user's own, "delegated" both, "own" whatever the caller has.
# shellcheck shell=bash
# shellcheck source=scripts/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../scripts/lib.sh"

build=${BUILD:-$root/build/release}
readonly user=61234 ids=700000
passed=0 failed=0 skipped=0
unset XDG_RUNTIME_DIR # it is the caller's, not that user's

stage=$(mktemp -d /var/tmp/belljar-rootless-XXXXXX)
group='' # what was delegated
clean_up() {
  # What the groups are called is belljar's business.
  if [ -n "$group" ]; then
    echo 1 >"$group/cgroup.kill"
    while grep -q 'populated 1' "$group/cgroup.events"; do :; done
    find "$group" -depth -type d -exec rmdir {} \;
  fi
  rm -rf "$stage"
}
trap clean_up EXIT

# prepare [PROGRAM…]: belljar, these other programs of the build and one Node.js where any user can reach them.
prepare() {
  local node
  node=$("$root/scripts/find-node")
  mkdir -p "$stage/bin" "$stage/data/runtimes" "$stage/home"
  cp "$build"/belljar{,-launcher,-zygote.so} "${@/#/$build/}" "$stage/bin/"
  [[ $node == */runtimes/*/bin/node ]] || die "the tests need a Node.js that belljar installed"
  prefix=$stage/data/runtimes/$(basename "${node%/bin/node}")
  # Links are refused between file systems, after the directories were made.
  cp -alT "${node%/bin/node}" "$prefix" 2>/dev/null || { rm -rf "$prefix" && cp -aT "${node%/bin/node}" "$prefix"; }
  chmod 755 "$stage"
  if [ "$(id -u)" = 0 ]; then chown $user:$user "$stage/data" "$stage/data/runtimes" "$stage/home"; fi
}

# delegate GROUP: makes a cgroup in which every start gets a group of its own, with the controllers that there are.
delegate() {
  group=$1
  mkdir "$group"
  local level
  for level in "$(dirname "$group")" "$group"; do
    # A host of cgroup v1 has none to give.
    echo '+memory +pids +cpu' >"$level/cgroup.subtree_control" 2>/dev/null || true
  done
}

# write_wrapper MODE [GROUP]: a program that stands for belljar and starts it, or another command, as the user, who is in that group besides.
write_wrapper() {
  local file=$stage/as-user groups=--clear-groups
  if [ -n "${2:-}" ]; then groups="--groups $2"; fi
  {
    echo '#!/bin/bash'
    # shellcheck disable=SC2016
    echo 'if [ "$(basename "$0")" = belljar ]; then set -- '"$stage"'/bin/belljar "$@"; fi'
    echo "export HOME=$stage/home BELLJAR_DATA_DIR=$stage/data BELLJAR_TEST_PREFIX=$prefix"
    if [ "$1" = own ]; then
      echo 'exec "$@"'
    else
      # What systemd does for a scope with Delegate=yes: the group and these files are the user's, its limits are not.
      if [ "$1" = cgroup ] || [ "$1" = delegated ]; then
        echo "scope=$group/\$\$.scope; mkdir \$scope"
        echo "chown $user:$user \$scope \$scope/cgroup.{procs,threads,subtree_control}; echo \$\$ >\$scope/cgroup.procs"
      fi
      # newuidmap reads the host's files: an /etc of our own has what they should say. And like many a host's /usr, this
      # one has something mounted beneath it.
      if [ "$1" = ids ] || [ "$1" = delegated ]; then
        echo "exec unshare -m /bin/bash -c 'mkdir -p $stage/upper $stage/work"
        echo "  mount -t overlay -o lowerdir=/etc,upperdir=$stage/upper,workdir=$stage/work overlay /etc"
        echo "  mount -t tmpfs -o mode=1777,size=64k tmpfs /usr/src"
        echo "  echo $user:$ids:65536 | tee /etc/subuid >/etc/subgid"
        echo "  echo belljar-test:x:$user:$user::$stage/home:/bin/sh >>/etc/passwd"
        echo "  exec setpriv --reuid $user --regid $user $groups \"\$@\"' as-user \"\$@\""
      else
        echo "exec setpriv --reuid $user --regid $user $groups \"\$@\""
      fi
    fi
  } >"$file"
  chmod 755 "$file"
  ln -sf as-user "$stage/belljar"
  ln -sf bin/belljar-launcher "$stage/belljar-launcher"
}

# count_gtest NAME COMMAND…
count_gtest() {
  local name=$1 log=$stage/log status=0
  shift
  "$@" >"$log" 2>&1 || status=$?
  local good bad skips
  good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$log") skips=$(grep -c '^\[  SKIPPED \] .*)$' "$log" || true)
  bad=$(sed -n 's/^ *\([0-9]*\) FAILED TESTS*$/\1/p' "$log")
  if [ "$status" != 0 ]; then cat "$log"; bad=${bad:-1}; fi
  passed=$((passed + ${good:-0})) failed=$((failed + ${bad:-0})) skipped=$((skipped + skips))
  printf '%-28s %s passed, %s failed\n' "$name" "${good:-0}" "${bad:-0}"
}

# count_suite NAME COMMAND…: a runner that ends with "N passed, N failed, N skipped".
count_suite() {
  local name=$1 log=$stage/log status=0 last
  shift
  BELLJAR=$stage/belljar BELLJAR_ROOTLESS_HOME=$stage/home E2E_USER=$(stat -c %u "$stage/home") \
    BELLJAR_NODE=$("$root/scripts/find-node") "$@" >"$log" 2>&1 || status=$?
  last=$(tail -1 "$log")
  [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+) ]] || status=1
  if [ "$status" != 0 ]; then cat "$log"; fi
  passed=$((passed + ${BASH_REMATCH[1]:-0})) failed=$((failed + ${BASH_REMATCH[2]:-1})) skipped=$((skipped + ${BASH_REMATCH[3]:-0}))
  printf '%-28s %s\n' "$name" "$last"
}
