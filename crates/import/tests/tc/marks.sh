# Marks of a firewall: the last rule that holds decides, unless one ends the way.
iptables -t mangle -A POSTROUTING -o eth0 -m dscp --dscp-class EF -j MARK --set-mark 1
iptables -t mangle -A POSTROUTING -o eth0 -m dscp --dscp-class EF -j RETURN
iptables -t mangle -A POSTROUTING -p tcp -m multiport --dports 22,8000:8080 -j MARK --set-mark 0x2
iptables -t mangle -A POSTROUTING -p tcp -s 10.0.0.0/8 -j MARK --set-xmark 3/0xffffffff
iptables -t mangle -A POSTROUTING -o eth1 -p udp -j MARK --set-mark 2
nft add rule inet mangle postrouting ip protocol udp udp dport { 53, 123 } counter meta mark set 4
# Not followed.
iptables -t mangle -A POSTROUTING -m length --length 0:128 -j MARK --set-mark 2
iptables -t mangle -A PREROUTING -j CONNMARK --restore-mark
ip6tables -t mangle -A POSTROUTING -p tcp -j MARK --set-mark 2
nft insert rule inet mangle postrouting meta mark set 9
iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE
tc qdisc add dev eth0 root handle 1: htb default 40
tc class add dev eth0 parent 1: classid 1:10 htb rate 1mbit
tc class add dev eth0 parent 1: classid 1:20 htb rate 2mbit
tc class add dev eth0 parent 1: classid 1:30 htb rate 3mbit
tc class add dev eth0 parent 1: classid 1:40 htb rate 3mbit
tc filter add dev eth0 parent 1: protocol ip prio 1 handle 1 fw classid 1:10
tc filter add dev eth0 parent 1: protocol ip prio 2 handle 0x2 fw flowid 1:20
tc filter add dev eth0 parent 1: protocol ip prio 3 handle 4 fw classid 1:30
tc filter add dev eth0 parent 1: protocol ip prio 4 handle 7 fw classid 1:30
tc filter add dev eth0 parent 1: protocol ip prio 5 fw
