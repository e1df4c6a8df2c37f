# ns aqm_ns2.tcl pi|rem|avq SEED: packets that got through an AQM of ns-2, and its mean queue (crates/queueing/tests/aqm_ns2.rs).
set mode [lindex $argv 0]
Queue/PI set a_ 0.0001822
Queue/PI set b_ 0.0001816
Queue/PI set qref_ 50
Queue/PI set w_ 160
Queue/REM set gamma_ 0.001
Queue/REM set phi_ 1.001
Queue/REM set inw_ 1
Queue/REM set mean_pktsize_ 1000
Queue/REM set pupdtime_ 0.002
Queue/REM set pbo_ 20
set kind [dict get {pi PI rem REM avq Vq} $mode]
set limit [dict get {pi 1000 rem 1000 avq 20} $mode]
set ns [new Simulator]
ns-random 1
set a [$ns node]; set b [$ns node]
$ns simplex-link $a $b 10Mb 1ms $kind
$ns queue-limit $a $b $limit
set rng [new RNG]; $rng seed [lindex $argv 1]
set gap [new RandomVariable/Exponential]; $gap use-rng $rng; $gap set avg_ [expr 8000.0 / 10500000]
set source [new Agent/UDP]; $source set packetSize_ 1000; $ns attach-agent $a $source
set sink [new Agent/Null]; $ns attach-agent $b $sink; $ns connect $source $sink
proc go {} { global ns source gap; $source sendmsg 1000 x; $ns at [expr [$ns now] + [$gap value]] go }
set monitor [$ns monitor-queue $a $b ""]
set waiting [$monitor get-pkts-integrator]
proc end {} {
    global monitor waiting mode
    $waiting newpoint 401 [$waiting set lasty_]
    puts "$mode [expr [$monitor set parrivals_] - [$monitor set pdrops_]] [expr [$waiting set sum_] / 401.0]"
    exit 0
}
$ns at 0.1 go
$ns at 401 end
$ns run
