# Turns by deficit; the later filter names the earlier class.
tc qdisc replace dev eth0 root handle 1: stab overhead 4 linklayer atm drr
tc class add dev eth0 parent 1: classid 1:10 drr quantum 3000
tc class add dev eth0 parent 1: classid 1:20 drr quantum 1500
tc class add dev eth0 parent 1: classid 1:30 drr
tc qdisc add dev eth0 parent 1:10 pie limit 500 target 20ms tupdate 16ms alpha 2 beta 20 ecn
tc qdisc add dev eth0 parent 1:20 codel ce_threshold 1ms
tc filter add dev eth0 parent 1: protocol ip prio 1 flower ip_proto tcp dst_port 80 classid 1:20
tc filter add dev eth0 parent 1: protocol ip prio 2 flower ip_proto tcp classid 1:10
tc filter add dev eth0 parent 1: protocol ip prio 3 flower src_ip 10.1.0.0/16 ip_tos b8/fc \
  action police rate 1mbit burst 10k conform-exceed drop action pedit ex munge ip dsfield set 0x28 retain 0xfc classid 1:20
tc filter add dev eth0 parent 1: protocol all prio 9 matchall classid 1:30
tc filter add dev eth0 parent 1: protocol ip prio 10 u32 match ip sport 22 0xffff flowid 1:40
