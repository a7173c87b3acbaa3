#!/usr/bin/env bash
# A Slurm on one machine, all of it in the folder $1: $2 nodes, two where nothing is said, $3 of them on each switch, or none known
# to Slurm. Runs until it is killed.
#
# It expects namespaces of its own (tests/src/slurm.rs makes them): a network in which nothing but its own loopback
# exists, so that its ports are free and nobody outside meets it, and processes that end with the first of them.
set -euo pipefail
folder=$1
count=${2:-2}
on_a_switch=${3:-0}
PATH=$PATH:/usr/sbin:/sbin

ip link set lo up
# A network interface that is no loopback: without one the resolver takes a machine for one without IPv4, and Open MPI
# finds no way between two nodes.
ip link add eth0 type veth peer name eth1
ip address add 192.0.2.9/24 dev eth0
ip link set eth0 up
ip link set eth1 up
# The nodes' names lead to this machine, for everybody in here and nobody else.
nodes=$(seq -f 'n%g' -s ' ' "$count")
printf '127.0.0.1 localhost %s\n' "$nodes" >"$folder/hosts"
mount --bind "$folder/hosts" /etc/hosts
mkdir -p "$folder"/{munge,state,log}
for node in $nodes; do
  mkdir -p "$folder/spool-$node" "$folder/tmp-$node"
done
# munged insists on owning its folders, and on a key of its own.
chmod 700 "$folder/munge"
dd if=/dev/urandom of="$folder/munge/munge.key" bs=1 count=1024 status=none
chmod 400 "$folder/munge/munge.key"

# TmpFS apart: else the pmix plugins of the nodes meet in /tmp. config_overrides: each node with all the CPUs.
cat >"$folder/slurm.conf" <<CONF
ClusterName=lab
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=6817
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge/munge.sock
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd-%n.log
TmpFS=$folder/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
ReturnToService=2
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
InactiveLimit=0
KillWait=5
PartitionName=lab Nodes=${nodes// /,} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
CONF
export SLURM_CONF=$folder/slurm.conf
for number in $(seq "$count"); do
  echo "NodeName=n$number NodeHostname=n$number NodeAddr=127.0.0.1 Port=$((6820 + number)) CPUs=4 RealMemory=1000 State=UNKNOWN"
done >>"$SLURM_CONF"
if [ "$on_a_switch" -gt 0 ]; then
  echo TopologyPlugin=topology/tree >>"$SLURM_CONF"
  switch=0
  for first in $(seq 1 "$on_a_switch" "$count"); do
    switch=$((switch + 1))
    echo "SwitchName=s$switch Nodes=$(seq -f 'n%g' -s , "$first" $((first + on_a_switch - 1)))"
  done >"$folder/topology.conf"
  echo "SwitchName=top Switches=$(seq -f 's%g' -s , "$switch")" >>"$folder/topology.conf"
fi

munged --foreground --force --key-file="$folder/munge/munge.key" --socket="$folder/munge/munge.sock" \
  --pid-file="$folder/munge/munged.pid" --log-file="$folder/munge/munged.log" --seed-file="$folder/munge/munged.seed" &
for _ in $(seq 200); do
  [ -S "$folder/munge/munge.sock" ] && break
  sleep 0.05
done
slurmctld -D &
# Each node has a name and shared memory of its own, as a machine would.
for node in $nodes; do
  unshare --uts --ipc --mount bash -c 'hostname "$0" && mount -t tmpfs tmpfs /dev/shm && exec slurmd -D -N "$0"' "$node" &
done
# When one of them ends, so does all.
wait -n
