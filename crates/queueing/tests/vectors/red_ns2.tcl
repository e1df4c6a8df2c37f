# ns red_ns2.tcl bytes|packets|wait|gentle: packets that got through RED in ns-2 (crates/queueing/tests/red_ns2.rs).
set mode [lindex $argv 0]
Queue/RED set thresh_ 10
Queue/RED set maxthresh_ 30
Queue/RED set q_weight_ 0.02
Queue/RED set mean_pktsize_ 1000
if {$mode != "bytes"} { Queue/RED set bytes_ false; Queue/RED set queue_in_bytes_ false }
if {$mode == "wait"} { Queue/RED set wait_ false }
if {$mode == "gentle"} { Queue/RED set gentle_ false }
set ns [new Simulator]
ns-random 1
set a [$ns node]; set b [$ns node]
$ns simplex-link $a $b 10Mb 1ms RED
$ns queue-limit $a $b 200
set rng [new RNG]; $rng seed 8
set gap [new RandomVariable/Exponential]; $gap use-rng $rng; $gap set avg_ [expr 8000.0 / 10500000]
set source [new Agent/UDP]; $source set packetSize_ 1000; $ns attach-agent $a $source
set sink [new Agent/Null]; $ns attach-agent $b $sink; $ns connect $source $sink
proc go {} { global ns source gap; $source sendmsg 1000 x; $ns at [expr [$ns now] + [$gap value]] go }
set monitor [$ns monitor-queue $a $b ""]
$ns at 0.1 go
$ns at 401 {puts "$mode [expr [$monitor set parrivals_] - [$monitor set pdrops_]]"; exit 0}
$ns run
