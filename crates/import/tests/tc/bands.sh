#!/bin/sh
# Bands by type of service, and two filters before it.
DEV=eth1
tc qdisc del dev $DEV root 2>/dev/null || true
tc qdisc add dev "$DEV" root handle 1: prio bands 3
tc qdisc add dev $DEV parent 1:1 handle 10: pfifo limit 50
tc qdisc add dev $DEV parent 1:2 handle 20: fq_codel limit 1000 target 5ms interval 100ms noecn
tc qdisc add dev $DEV parent 1:3 handle 30: red limit 400000 min 30000 max 90000 avpkt 1000 \
    burst 55 bandwidth 10mbit probability 0.02 ecn harddrop
tc filter add dev $DEV parent 1: protocol ip prio 1 u32 \
    match ip protocol 17 0xff match ip dport 5060 0xffff flowid 1:1
tc filter add dev $DEV parent 1: protocol ip prio 2 u32 match ip dport 0x1000 f000 flowid 1:3
tc filter add dev $DEV parent 1: protocol ip prio 3 handle 7 fw flowid 1:1
tc filter add dev $DEV parent 1: protocol ipv6 prio 4 u32 match ip6 dport 22 0xffff flowid 1:1
