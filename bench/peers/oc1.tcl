# Four TCP connections over a line of OC-1 in ns-2.35, for bench/oc1.py.
#
#   ns oc1.tcl SEED WARMUP SECONDS PACKET TCP QUEUE
#
# PACKET is in bytes on the wire, TCP a list {KEY VALUE ...} of what differs from the connections below, QUEUE is `tail` or a list
# {RED KEY VALUE ...} of what differs from the RED below. One line of JSON goes to standard output, of the line from WARMUP to SECONDS: what it carried in b/s, the mean queue
# without the packet on the wire, drops a second, and retransmitted packets and timeouts a second.

if {[llength $argv] != 6} {
    puts stderr "usage: ns oc1.tcl SEED WARMUP SECONDS PACKET TCP QUEUE"
    exit 2
}
foreach {seed warmup seconds packet tcp queue} $argv break

remove-all-packet-headers
add-packet-header Flags IP TCP RTP

Agent/TCP set packetSize_ [expr {$packet - 40}]
Agent/TCP set useHeaders_ true
Agent/TCP set window_ 60000
Agent/TCP set overhead_ 0
Agent/TCP set minrto_ 0.2
Agent/TCP set singledup_ 0
foreach {key value} $tcp { Agent/TCP set $key $value }

set ns [new Simulator]
ns-random $seed

set edge [$ns node]
set dest [$ns node]
set kind [expr {$queue eq "tail" ? "DropTail" : "RED"}]
$ns simplex-link $edge $dest 51.84Mb 5ms $kind
$ns simplex-link $dest $edge 51.84Mb 5ms DropTail
# A DropTail of N keeps N - 1 packets, a RED of N keeps N.
$ns queue-limit $edge $dest [expr {$kind eq "RED" ? 200 : 201}]
$ns queue-limit $dest $edge 100000
if {$kind eq "RED"} {
    set red [[$ns link $edge $dest] queue]
    foreach {key value} {
        thresh_ 6 maxthresh_ 20 q_weight_ 0.07 linterm_ 10 gentle_ false wait_ false
        bytes_ false queue_in_bytes_ false setbit_ false adaptive_ 0 cautious_ 0 drop_tail_ true
    } { $red set $key $value }
    $red set mean_pktsize_ $packet
    foreach {key value} [lrange $queue 1 end] { $red set $key $value }
}

set monitor [$ns monitor-queue $edge $dest ""]
set integrator [$monitor get-pkts-integrator]

set senders {}
foreach delay {1 3 5 7} {
    set server [$ns node]
    $ns duplex-link $server $edge 100Mb ${delay}ms DropTail
    $ns queue-limit $server $edge 100000
    $ns queue-limit $edge $server 100000
    set sender [new Agent/TCP/Reno]
    set sink [new Agent/TCPSink]
    $ns attach-agent $server $sender
    $ns attach-agent $dest $sink
    $ns connect $sender $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $sender
    $ns at [expr {[ns-random] / 2147483648.0}] "$ftp start"
    lappend senders $sender
}

# What has been counted so far: bits, packets times seconds, drops, retransmissions, timeouts.
proc counted {} {
    global ns monitor integrator senders
    $integrator newpoint [$ns now] [$integrator set lasty_]
    set again 0
    set timeouts 0
    foreach s $senders {
        incr again [$s set nrexmitpack_]
        incr timeouts [$s set nrexmit_]
    }
    list [expr {8.0 * [$monitor set bdepartures_]}] [$integrator set sum_] [$monitor set pdrops_] $again $timeouts
}

proc finish {} {
    global before warmup seconds
    set values {}
    foreach a $before b [counted] { lappend values [expr {double($b - $a) / ($seconds - $warmup)}] }
    puts "\[[join $values {, }]\]"
    exit 0
}

$ns at $warmup {set before [counted]}
$ns at $seconds finish
$ns run
