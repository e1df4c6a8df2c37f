tc qdisc add dev eth0 root fq_codel limits 5
tc qdisc add dev eth1 root codel target 5parsec
tc qdisc add dev eth2 root red limit 400000 min 30000 max 90000 avpkt 1000 burst 20
tc qdisc add root fq_codel
tc qdisc add dev eth3 root tbf rate 1mbit latency 5ms
tc qdisc add dev eth4 root prio bands 20
tc class add dev eth5 parent 1: drr quantum 1500
tc qdisc add dev eth6 root pie limit
tc filter add dev eth6 parent 1: protocol ip u32 match ip sport 99 flowid
tc qdisc add dev eth7 root handle 1: stab overhead 9999 pfifo
tc qdisc add dev eth8 root pfifo
