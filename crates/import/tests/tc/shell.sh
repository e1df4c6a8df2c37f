#!/bin/sh
set -e
start() {
  tc qdisc add dev eth0 root fq_codel
}
case "$1" in
  start) tc qdisc add dev eth2 root pie ;;
esac
for i in 1 2; do tc class add dev eth0 parent 1: classid 1:$i drr; done
tc qdisc add dev $IF root fq_codel
tc qdisc add dev eth0 root handle 1: qfq
tc class add dev eth0 parent 1: classid 1:1 qfq weight 10 maxpkt 1514
tc class add dev eth0 parent 1: classid 1:2 qfq weight 30
tc filter add dev eth0 parent 1: protocol ip flower ip_tos 0x10 classid 1:1
tc qdisc add dev eth0 parent 1:2 netem delay 10ms
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol ip u32 match u32 0 0 police rate 1mbit burst 10k drop
tc qdisc add dev eth1 root fancy
tc qdisc add dev eth1 root fq
tc -s qdisc show dev eth0
ip link set eth0 txqueuelen 100
