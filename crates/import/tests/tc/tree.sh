# A home line: shaped below the modem, three classes that borrow.
tc qdisc add dev wan root handle 1: stab overhead 4 htb default 30 r2q 20
tc class add dev wan parent 1: classid 1:1 htb rate 9500kbit ceil 9500kbit burst 6k
tc class add dev wan parent 1:1 classid 1:10 htb rate 1mbit ceil 50% prio 0 quantum 1514
tc class add dev wan parent 1:1 classid 1:20 htb rate 4mbit ceil 9500kbit prio 1 burst 15k/8 cburst 1600b
tc class add dev wan parent 1:1 classid 1:30 htb rate 4mbit ceil 9500kbit prio 2
tc qdisc add dev wan parent 1:10 pfifo limit 20
tc qdisc add dev wan parent 1:20 handle 20: fq_codel
tc filter add dev wan parent 1: protocol ip prio 1 flower ip_tos 0xb8/0xfc classid 1:10
tc filter add dev wan parent 1: protocol ip prio 2 flower ip_proto tcp classid 1:1
tc filter add dev wan parent 1:1 protocol ip prio 1 flower dst_port 443 classid 1:20
tc qdisc add dev lan root handle 2: hfsc default 2
tc class add dev lan parent 2: classid 2:1 hfsc sc umax 1500b dmax 53ms rate 400kbit ul rate 1mbit
tc class add dev lan parent 2: classid 2:2 hfsc ls m1 0 d 100ms m2 600kbit
tc filter add dev lan parent 2: protocol ip flower ip_proto udp classid 2:1
tc qdisc add dev dmz root handle 3: hfsc
tc class add dev dmz parent 3: classid 3:1 hfsc sc rate 400kbit
