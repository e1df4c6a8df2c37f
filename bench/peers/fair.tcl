# Poisson flows into one queue of ns-2.35, for bench/ns2.py.
#
#   ns fair.tcl SEED SECONDS LOAD HEAVY KIND {KEY VALUE ...}
#
# Ten flows of packets of 1000 B share 10 Mb/s, LOAD of which they send; HEAVY of that sends the first. KIND is that of the queue, SFQ,
# DRR or RED, of which each KEY is set. One line of JSON goes to standard output; the mean queue is without the packet on the wire.

if {[llength $argv] != 6} {
    puts stderr "usage: ns fair.tcl SEED SECONDS LOAD HEAVY KIND {KEY VALUE ...}"
    exit 2
}
foreach {seed seconds load heavy kind keys} $argv break

remove-all-packet-headers
add-packet-header Flags IP RTP

Agent/UDP set packetSize_ 1000
# Those of a queue are read when it is made.
foreach {key value} $keys { Queue/$kind set $key $value }

set ns [new Simulator]
ns-random $seed
set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right 10Mb 10ms $kind
$ns simplex-link $right $left 10Mb 10ms DropTail
set monitor [$ns monitor-queue $left $right ""]
set integrator [$monitor get-pkts-integrator]
# RED alone has this limit; the others have their own.
$ns queue-limit $left $right 1000

# Sources differ by address, which is what SFQ and DRR hash. These are random, but 16 apart, without which DRR sees collisions.
set used {}
proc address {} {
    global used
    while 1 {
        set a [expr {16 * int(65536 * [ns-random] / 2147483648.0)}]
        if {[lsearch $used $a] < 0} { lappend used $a; return $a }
    }
}

set flows 10
set sinks {}
for {set i 0} {$i < $flows} {incr i} {
    set udp [new Agent/UDP]
    set sink [new Agent/LossMonitor]
    $ns attach-agent $left $udp
    $ns attach-agent $right $sink
    $ns connect $udp $sink
    $udp set agent_addr_ [address]
    set share [expr {$i == 0 ? $heavy : (1 - $heavy) / ($flows - 1)}]
    # No burst time makes bursts of one packet at exponential distances.
    set source [new Application/Traffic/Exponential]
    $source set packetSize_ 1000
    $source set burst_time_ 0
    $source set idle_time_ [expr {8000.0 / ($load * 10e6 * $share)}]
    $source set rate_ 1e15
    $source attach-agent $udp
    $ns at 0 "$source start"
    lappend sinks $sink
}

proc finish {} {
    global ns seconds monitor integrator sinks
    $integrator newpoint [$ns now] [$integrator set lasty_]
    set delivered 0
    foreach sink $sinks { incr delivered [$sink set npkts_] }
    puts "{\"delivered\": $delivered, \"first\": [[lindex $sinks 0] set npkts_], \"arrivals\": [$monitor set parrivals_],\
        \"drops\": [$monitor set pdrops_], \"mean_queue\": [expr {[$integrator set sum_] / $seconds}]}"
    exit 0
}

$ns at $seconds finish
$ns run
