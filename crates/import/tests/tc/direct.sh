# Filters to class 0 lead past all classes, beside a default.
tc qdisc add dev wan root handle 1: htb default 2 direct_qlen 200
tc class add dev wan parent 1: classid 1:1 htb rate 1mbit
tc class add dev wan parent 1: classid 1:2 htb rate 4mbit
tc filter add dev wan parent 1: protocol ip prio 1 flower ip_tos 0xb8/0xfc classid 1:1
tc filter add dev wan parent 1: protocol ip prio 2 flower ip_proto udp dst_port 53 classid 1:0
tc filter add dev wan parent 1: protocol ip prio 3 flower ip_proto udp classid 1:1
