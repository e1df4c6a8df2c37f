RATE=10
tc qdisc add dev ppp0 root handle 1: tbf rate $((RATE * 95 / 100))mbit burst 5kb latency 70ms peakrate 12mbit minburst 1540
tc qdisc add dev ppp0 parent 1:1 handle 2: ets bands 4 strict 1 quanta 3000 1500 priomap 1 1 2 2 1 1 0
tc qdisc add dev ppp0 parent 2:2 sfb rehash 600000 db 60000 limit 1000 max 25 target 20 increment 0.00050 decrement 0.00005 penalty_rate 10 penalty_burst 20
tc qdisc add dev ppp0 parent 2:3 choke limit 1000 min 83 max 250 avpkt 1000 burst 180 probability 0.02 bandwidth 10mbit
tc qdisc add dev ppp0 parent 2:4 dualpi2 target 20ms coupling_factor 2 step_thresh 1ms classic_protection 10%
tc qdisc add dev ifb0 root bfifo
tc qdisc add dev dsl0 root cake bandwidth 18mbit diffserv4 dual-srchost nat pppoe-ptm ether-vlan mpu 64 metro ack-filter memlimit 4mb
tc qdisc add dev dsl1 root sfq perturb 10 limit 300 headdrop redflowlimit 5000
tc qdisc add dev dsl2 root fq_pie limit 500 flows 64 target 20ms alpha 2 beta 20 ecn ecn_prob 5
