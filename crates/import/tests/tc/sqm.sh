# A shaper for both directions: what arrives waits on ifb0, but for what is policed before.
tc qdisc add dev eth0 root handle 1: htb default 11
tc class add dev eth0 parent 1: classid 1:11 htb rate 9mbit ceil 9mbit
tc qdisc add dev eth0 parent 1:11 fq_codel
tc qdisc del dev eth0 ingress
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol ip prio 5 u32 match ip protocol 17 0xff match ip sport 53 0xffff police rate 100kbit burst 10k drop flowid :1
tc filter add dev eth0 parent ffff: protocol ip prio 6 flower ip_tos 0xb8/0xfc action pedit ex munge ip dsfield set 0 retain 0xfc pipe action csum ip
tc filter add dev eth0 parent ffff: protocol all prio 10 matchall action mirred egress redirect dev ifb0
tc qdisc add dev ifb0 root cake bandwidth 45mbit besteffort
tc qdisc add dev eth1 clsact
tc filter add dev eth1 ingress matchall action police rate 2mbit burst 20k conform-exceed drop
tc filter add dev eth1 egress matchall action drop
