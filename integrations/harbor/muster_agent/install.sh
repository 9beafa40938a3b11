#!/bin/bash
# Installs Muster in the container of a task, and Node if there is none that is new enough.
# MUSTER_PACKAGE is what npm installs: a name, a name with a version, or the path of a packed package.
# Terminal-Bench reads this script into the shell of the task, so that everything happens in a process of its own.
bash -e -s << 'INSTALL'
NODE_VERSION=v22.20.0

has_node() {
  command -v node > /dev/null && command -v npm > /dev/null && node -e '
    const [major, minor] = process.versions.node.split(".").map(Number);
    process.exit(major > 22 || (major === 22 && minor >= 19) ? 0 : 1);
  '
}

install_programs() {
  if command -v apt-get > /dev/null; then
    apt-get update
    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates curl git xz-utils
  elif command -v apk > /dev/null; then
    apk add --no-cache nodejs npm git bash
  elif command -v dnf > /dev/null; then
    dnf install -y ca-certificates curl git xz
  elif command -v yum > /dev/null; then
    yum install -y ca-certificates curl git xz
  fi
}

install_node() {
  case $(uname -m) in
    x86_64) architecture=x64 ;;
    aarch64 | arm64) architecture=arm64 ;;
    *) echo "There is no Node for $(uname -m)." >&2; return 1 ;;
  esac
  name=node-$NODE_VERSION-linux-$architecture
  place=$(mktemp -d)
  curl -fsSL --retry 3 "https://nodejs.org/dist/$NODE_VERSION/$name.tar.xz" -o "$place/$name.tar.xz"
  curl -fsSL --retry 3 "https://nodejs.org/dist/$NODE_VERSION/SHASUMS256.txt" -o "$place/sums"
  (cd "$place" && grep " $name.tar.xz\$" sums | sha256sum -c -)
  mkdir -p /opt/muster-node
  tar -xJf "$place/$name.tar.xz" -C /opt/muster-node --strip-components 1
  rm -rf "$place"
}

has_node || install_programs
if ! has_node; then
  install_node
  export PATH=/opt/muster-node/bin:$PATH
fi
npm install --global --no-audit --no-fund "${MUSTER_PACKAGE:-muster-agent}"
# The shells of a task may have another PATH.
for program in node muster; do
  path=$(command -v "$program")
  [ "$path" = "/usr/local/bin/$program" ] || ln -sf "$path" "/usr/local/bin/$program"
done
muster --version
INSTALL
