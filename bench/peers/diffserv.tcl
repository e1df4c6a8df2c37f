# A DiffServ edge and core of ns-2.35, for bench/diffserv.py.
#
#   ns diffserv.tcl SEED WARMUP SECONDS METER MODE CORE TRAFFIC
#
# METER is a list such as {TSW2CM 4000000 1}: a kind of policer and what follows its code point in `addPolicyEntry`. MODE is RIO-C
# or RIO-D, CORE the rate of the link behind the core in Mb/s, TRAFFIC a list of customers: {poisson RATE} or {tcp DELAY_MS}. Each
# has a host, its own policer, and code point 10, downgraded to 11 and 12. One line of JSON goes to standard output: rates in b/s
# by code point before and behind the core's queue, from WARMUP to SECONDS, the mean queue, and the mean wait.

if {[llength $argv] != 7} {
    puts stderr "usage: ns diffserv.tcl SEED WARMUP SECONDS METER MODE CORE TRAFFIC"
    exit 2
}
foreach {seed warmup seconds meter mode core traffic} $argv break

remove-all-packet-headers
add-packet-header Flags IP TCP RTP

# 1000 B on the wire.
Agent/TCP set packetSize_ 960
Agent/TCP set useHeaders_ true
Agent/TCP set window_ 60000
Agent/TCP set overhead_ 0
Agent/UDP set packetSize_ 1000

set ns [new Simulator]
ns-random $seed

set edge [$ns node]
set hub [$ns node]
set far [$ns node]
$ns simplex-link $edge $hub 100Mb 1ms dsRED/edge
$ns simplex-link $hub $edge 100Mb 1ms DropTail
$ns simplex-link $hub $far ${core}Mb 10ms dsRED/core
$ns simplex-link $far $hub 100Mb 10ms DropTail
foreach {a b} [list $edge $hub $hub $edge $hub $far $far $hub] { $ns queue-limit $a $b 1000 }

set marks [[$ns link $edge $hub] queue]
set rio [[$ns link $hub $far] queue]
set kind [lindex $meter 0]
foreach q [list $marks $rio] {
    $q meanPktSize 1000
    $q set numQueues_ 1
    $q setNumPrec 3
    foreach {code prec} {10 0 11 1 12 2} { $q addPHBEntry $code 0 $prec }
}
# Nothing is dropped at the edge.
foreach prec {0 1 2} { $marks configQ 0 $prec 900 999 0.1 }
$marks addPolicerEntry $kind 10 11 12
$rio setMREDMode $mode
# min_th max_th max_p weight; what violates fares as what exceeds.
$rio configQ 0 0 40 70 0.02 0.01
foreach prec {1 2} { $rio configQ 0 $prec 10 30 0.1 0.01 }

set monitor [$ns monitor-queue $hub $far ""]
set integrator [$monitor get-pkts-integrator]
set waits [new Samples]
$monitor set-delay-samples $waits

set senders {}
foreach customer $traffic {
    foreach {what value} $customer break
    set host [$ns node]
    set delay [expr {$what eq "tcp" ? $value : 1}]
    $ns duplex-link $host $edge 100Mb ${delay}ms DropTail
    $ns queue-limit $host $edge 1000
    $ns queue-limit $edge $host 1000
    eval [list $marks addPolicyEntry [$host id] [$far id] $kind 10] [lrange $meter 1 end]
    if {$what eq "tcp"} {
        set sender [new Agent/TCP/Newreno]
        set sink [new Agent/TCPSink]
        set source [new Application/FTP]
    } else {
        set sender [new Agent/UDP]
        set sink [new Agent/Null]
        # No burst time makes bursts of one packet at exponential distances.
        set source [new Application/Traffic/Exponential]
        $source set packetSize_ 1000
        $source set burst_time_ 0
        $source set idle_time_ [expr {8000.0 / $value}]
        $source set rate_ 1e15
    }
    $ns attach-agent $host $sender
    $ns attach-agent $far $sink
    $ns connect $sender $sink
    $source attach-agent $sender
    $ns at [expr {[ns-random] / 2147483648.0}] "$source start"
}

# What has been counted so far: of each code point packets that came to the core and those that got through, and packets
# times seconds.
proc counted {} {
    global ns rio integrator
    $integrator newpoint [$ns now] [$integrator set lasty_]
    set found {}
    foreach code {10 11 12} {
        set came [$rio getStat pkts $code]
        lappend found $came [expr {$came - [$rio getStat drops $code] - [$rio getStat edrops $code]}]
    }
    lappend found [$integrator set sum_]
}

proc begin {} {
    global before waits
    set before [counted]
    $waits reset
}

proc finish {} {
    global before waits warmup seconds
    set span [expr {$seconds - $warmup}]
    set values {}
    foreach a $before b [counted] { lappend values [expr {($b - $a) / $span}] }
    set rates {}
    foreach v [lrange $values 0 5] { lappend rates [expr {8000.0 * $v}] }
    puts "{\"rates\": \[[join $rates {, }]\], \"queue\": [lindex $values 6], \"wait\": [$waits mean]}"
    exit 0
}

$ns at $warmup begin
$ns at $seconds finish
$ns run
