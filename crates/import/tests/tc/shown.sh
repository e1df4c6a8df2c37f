# tc -s qdisc show dev eth0
qdisc htb 1: root refcnt 2 r2q 10 default 0x30 direct_packets_stat 12 direct_qlen 1000
 Sent 123456 bytes 100 pkt (dropped 3, overlimits 20 requeues 0)
 backlog 0b 0p requeues 0
qdisc fq_codel 10: parent 1:10 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb ecn drop_batch 64
 Sent 1000 bytes 10 pkt (dropped 0, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
  maxpacket 0 drop_overlimit 0 new_flow_count 0 ecn_mark 0
  new_flows_len 0 old_flows_len 0
qdisc sfq 30: parent 1:30 limit 127p quantum 1514b depth 127 flows 128/1024 divisor 1024 perturb 10sec
qdisc ingress ffff: parent ffff:fff1 ----------------
# tc -s class show dev eth0
class htb 1:1 root rate 10Mbit ceil 10Mbit burst 1600b cburst 1600b
 Sent 123456 bytes 100 pkt (dropped 0, overlimits 20 requeues 0)
 lended: 10 borrowed: 0 giants: 0
 tokens: 20000 ctokens: 20000
class htb 1:10 parent 1:1 leaf 10: prio 0 rate 2Mbit ceil 10Mbit burst 1600b cburst 1600b
class htb 1:30 parent 1:1 leaf 30: prio 2 quantum 2000 rate 8Mbit ceil 10Mbit burst 1600b cburst 1600b
class fq_codel 10:3c1 parent 10:
# tc -s filter show dev eth0
filter parent 1: protocol ip pref 1 u32 chain 0
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800: ht divisor 1
filter parent 1: protocol ip pref 1 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid 1:10 not_in_hw  (rule hit 10 success 5)
  match 00b80000/00fc0000 at 0 (success 5 )
filter parent 1: protocol ip pref 2 flower chain 0
filter parent 1: protocol ip pref 2 flower chain 0 handle 0x1 classid 1:10
  eth_type ipv4
  ip_proto tcp
  dst_port 22
  not_in_hw
# tc -s filter show dev eth0 ingress
filter parent ffff: protocol ip pref 5 u32 chain 0 fh 800::800 order 2048 key ht 800 bkt 0 flowid ffff:1 not_in_hw
  match 00110000/00ff0000 at 8
 police 0x1 rate 1Mbit burst 10Kb mtu 2Kb action drop overhead 0b
	ref 1 bind 1
filter parent ffff: protocol all pref 10 matchall chain 0 handle 0x1
  not_in_hw
	action order 1: mirred (Egress Redirect to device ifb0) stolen
 	index 1 ref 1 bind 1
# tc qdisc show
qdisc noqueue 0: dev lo root refcnt 2
qdisc cake 8002: dev ifb0 root refcnt 2 bandwidth 45Mbit besteffort triple-isolate nonat nowash no-ack-filter split-gso rtt 100ms raw overhead 0
qdisc hfsc 2: dev eth2 root refcnt 2 default 0x2
# tc class show dev eth2
class hfsc 2: root
class hfsc 2:2 parent 2: sc m1 0bit d 0us m2 400Kbit
