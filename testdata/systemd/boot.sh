#!/bin/sh
# Becomes a throw-away systemd whose writes go to memory: boot.sh WORK STAGE CGROUPS... -- NSPAWN-ARGUMENT...
# Runs as the first process of a mount and a PID namespace of its own, so that all of it, mounts
# included, is gone with this one process. What it prints is why a machine cannot do it.
set -eu
work=$1 stage=$2
shift 2
# A place of its own in each hierarchy: nspawn makes its groups below the one that it is in.
while [ "$1" != -- ]; do
  echo 0 >"$1/cgroup.procs"
  shift
done
shift
mount --make-rprivate /
mount -t tmpfs -o size=1g,mode=0755 tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
cp -a "$stage/." "$work/upper/"
mount -t overlay overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" "$work/root"
export SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1
exec systemd-nspawn --register=no --keep-unit --quiet --boot --directory="$work/root" \
  --console=pipe --capability=all --link-journal=no "$@"
