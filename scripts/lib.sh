# Shared by scripts/setup, ./run and ./test; sourced, never run. Messages go to stderr: stdout may be an
# MCP connection.
# shellcheck shell=bash disable=SC2034

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# Another clone of the project on this machine has compiled most of the same files already.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Variables that belljar and npm take their settings from: what sudo must not drop.
kept_variables() {
  compgen -e | grep -E '^(BELLJAR|SANDBOX_|NODE_CONTAINER_TIMEOUT|RUN_SCRIPT_TIMEOUT|FILES_DIR|JS_SANDBOX_)|^(npm_config_|NPM_CONFIG_)|^(NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|SSL_CERT_DIR|https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|MUST_WORK|CI|TSAN_OPTIONS)' |
    paste -sd, -
}

# exec_as_root WHY COMMAND…: replaces this process by the command, with root's rights.
exec_as_root() {
  local why=$1
  shift
  if [ "$(id -u)" = 0 ]; then exec "$@"; fi
  command -v sudo >/dev/null || die "belljar: root is needed $why, and sudo is not installed. Run this as root."
  say "belljar: using sudo $why."
  # root's own home has no .npmrc of the person who asked.
  if [ -z "${npm_config_userconfig-}" ] && [ -r "$HOME/.npmrc" ]; then export npm_config_userconfig=$HOME/.npmrc; fi
  exec sudo "--preserve-env=$(kept_variables)" "$@"
}

# as_root WHY COMMAND…: the same, and comes back. What the command leaves in the clone is the clone's owner's.
as_root() { (exec_as_root "$1" "$root/scripts/keep-owner" "${@:2}"); }

# give_back: gives what root made in somebody's clone to that somebody. Nothing to do for anybody but root.
give_back() {
  local owner
  owner=$(stat -c %u:%g "$root")
  if [ "$(id -u)" = 0 ] && [ "${owner%%:*}" != 0 ]; then chown -R -h --from=0 "$owner" "$root"; fi
}

readonly why_root="because the tests look at the host from outside the sandboxes"

# Reads ninja's output and shows how far it is, in one line, if somebody is looking.
show_progress() {
  local line what=$1
  while IFS= read -r line; do
    if [[ -t 2 && $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then printf '\r%s: %s ' "$what" "${BASH_REMATCH[1]}" >&2; fi
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# may_build: whether this user may write to build/, and what is there; says what to do if not.
may_build() {
  local place me
  me=$(id -un)
  for place in "$root" "$root/build" "$root/build/.lock" "$@"; do
    if [ ! -e "$place" ] || [ -w "$place" ]; then continue; fi
    # Another's clone, which needs nothing but its own build directory to be writable.
    if [ "$place" = "$root" ] && [ -w "$root/build" ]; then continue; fi
    if [ -O "$root" ]; then
      say "belljar: $place belongs to $(stat -c %U "$place"), so $me cannot build. Mend it: sudo chown -R $me $root/build"
    else
      say "belljar: this clone belongs to $(stat -c %U "$root"), and $me may not build in it. Make a clone of your own;"
      say "to use this one, have $(stat -c %U "$root") run ./run here first."
    fi
    return 1
  done
}

# build PRESET [TARGET…]: configures if need be and builds; quiet unless it fails.
build() {
  local preset=$1
  shift
  local dir=$root/build/$preset log=$root/build/$preset.log targets=()
  if [ $# -gt 0 ]; then targets=(--target "$@"); fi
  may_build "$dir" "$log" || return 1
  mkdir -p "$dir"
  # Clients may start two copies at once; only one of them may build.
  exec 9>"$root/build/.lock"
  flock 9
  if [ ! -f "$dir/build.ninja" ]; then
    say "Building build/$preset; the first time takes some minutes"
    (cd "$root" && cmake --preset "$preset") >"$log" 2>&1 9>&- ||
      { cat "$log" >&2; say "cmake --preset $preset failed."; exec 9>&-; give_back; return 1; }
  fi
  local started=$SECONDS status=0
  (cd "$root" && cmake --build --preset "$preset" "${targets[@]}" 2>&1 9>&-) | tee "$log" | show_progress "Building $preset" ||
    status=${PIPESTATUS[0]}
  exec 9>&-
  give_back
  if [ "$status" != 0 ]; then
    grep -v '^\[[0-9]*/[0-9]*\] \(Building\|Linking\)' "$log" >&2
    say "The $preset build failed; the whole log is in $log."
    return 1
  fi
  if [ $((SECONDS - started)) -gt 2 ]; then say "Built build/$preset in $((SECONDS - started)) s"; fi
}
