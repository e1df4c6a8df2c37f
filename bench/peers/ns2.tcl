# The benchmark scenarios for ns-2.35.
#
#   ns ns2.tcl CASE SECONDS MEASURE [SEED [HEADERS]]
#
# CASE is d50, d50-red, d1k, d10k, w or f-drr. With MEASURE 0 nothing watches the
# bottleneck, which is how the run is timed; with 1 a queue monitor counts and
# integrates there. HEADERS is `all`, as ns-2 comes, or `used`, for those who
# know it well. One line of JSON goes to standard output; what was not watched
# is null.

if {[llength $argv] < 3} {
    puts stderr "usage: ns ns2.tcl CASE SECONDS MEASURE \[SEED \[HEADERS\]\]"
    exit 2
}
foreach {name seconds measure} $argv break
set seed [expr {[llength $argv] > 3 ? [lindex $argv 3] : 1}]
set headers [expr {[llength $argv] > 4 ? [lindex $argv 4] : "used"}]

# As it comes every packet carries the headers of all protocols, 2 to 3 kB, which
# are cleared for each.
switch $headers {
    all {}
    used {
        remove-all-packet-headers
        add-packet-header Flags IP TCP RTP
    }
    default {
        puts stderr "HEADERS is all or used, not $headers"
        exit 2
    }
}

# Packets of ns-2 have the header that its agents say: TCP 1000 B of data in
# 1040 B, UDP exactly what is given.
Agent/TCP set packetSize_ 1000
Agent/TCP set useHeaders_ true
Agent/TCP set window_ 60000
Agent/TCP set overhead_ 0
Agent/UDP set packetSize_ 1000

# `bytes` is a packet on the wire, by which idle time counts.
proc red {q bytes} {
    foreach {key value} {
        thresh_ 25 maxthresh_ 75 q_weight_ 0.002 linterm_ 10 gentle_ true
        bytes_ false queue_in_bytes_ false
        wait_ false setbit_ false adaptive_ 0 cautious_ 0 drop_tail_ true
    } { $q set $key $value }
    $q set mean_pktsize_ $bytes
}

# Of each link the simulator keeps a list for its animator, which it searches
# with every new link: the square of 40,000 links.
Simulator instproc register-nam-linkconfig link {}
Simulator instproc remove-nam-linkconfig {from to} {}

set ns [new Simulator]
ns-random $seed

# The queue and the link after it are the bottleneck; its mean queue excludes
# the packet that is on the wire.
proc watch {from to} {
    global ns measure monitor integrator
    if {!$measure} return
    set monitor [$ns monitor-queue $from $to ""]
    set integrator [$monitor get-pkts-integrator]
}

# The largest resident memory so far in KiB; null where the system does not say.
proc peak-kb {} {
    if {[catch {open /proc/self/status} file]} { return null }
    set status [read $file]
    close $file
    if {[regexp {VmHWM:\s+(\d+)} $status -> kb]} { return $kb }
    return null
}

# CPU seconds of this process so far; null where the system does not say. The
# account stands at the last change of context, which sleeping makes.
proc cpu-s {} {
    after 1
    if {[catch {open /proc/self/schedstat} file]} { return null }
    set ns [lindex [read $file] 0]
    close $file
    return [expr {$ns / 1e9}]
}

# `flows` says what the flows of TCP did: retransmits, timeouts, jain.
proc report {delivered bytes_per_s {flows {null null null}}} {
    global ns name seconds measure monitor integrator begin
    set run_s null
    set end [cpu-s]
    if {$begin ne "null" && $end ne "null"} { set run_s [expr {$end - $begin}] }
    foreach {retransmits timeouts jain} $flows break
    if {$measure} {
        # The integrator stands at the last change; bring it up to now.
        $integrator newpoint [$ns now] [$integrator set lasty_]
        set drops [$monitor set pdrops_]
        set arrivals [$monitor set parrivals_]
        set queue [expr {[$integrator set sum_] / $seconds}]
        set use [expr {[$monitor set bdepartures_] / double($bytes_per_s) / $seconds}]
    } else {
        foreach v {drops arrivals queue use} { set $v null }
    }
    puts "{\"peer\": \"ns-2\", \"case\": \"$name\", \"delivered\": $delivered, \"arrivals\": $arrivals,\
        \"drops\": $drops, \"utilization\": $use, \"mean_queue\": $queue, \"retransmits\": $retransmits, \"timeouts\": $timeouts,\
        \"jain\": $jain, \"run_s\": $run_s, \"seconds\": $seconds, \"peak_kb\": [peak-kb]}"
    exit 0
}

proc route {node via} {
    [$node get-module Manual] add-route-to-adj-node -default $via
}

proc to-neighbor {node neighbor} {
    [$node get-module Manual] add-route-to-adj-node $neighbor
}

# Flows of NewReno, each with its own access and egress link.
proc dumbbell {flows mbps limit kind} {
    global ns seconds
    # Routes of 20,000 nodes are not computed but written down.
    $ns rtproto Manual
    set left [$ns node]
    set right [$ns node]
    $ns simplex-link $left $right ${mbps}Mb 10ms $kind
    $ns simplex-link $right $left ${mbps}Mb 10ms DropTail
    $ns queue-limit $left $right $limit
    $ns queue-limit $right $left 100000
    if {$kind eq "RED"} { red [[$ns link $left $right] queue] 1040 }
    route $left $right
    route $right $left
    watch $left $right
    set agents {}
    for {set i 0} {$i < $flows} {incr i} {
        set source [$ns node]
        set sink [$ns node]
        $ns duplex-link $source $left 1Gb [expr {1 + $i % 10}]ms DropTail
        $ns duplex-link $right $sink 1Gb 1ms DropTail
        foreach {a b} [list $source $left $left $source $right $sink $sink $right] {
            $ns queue-limit $a $b 100000
        }
        route $source $left
        route $sink $right
        to-neighbor $left $source
        to-neighbor $right $sink
        set tcp [new Agent/TCP/Newreno]
        set end [new Agent/TCPSink]
        $ns attach-agent $source $tcp
        $ns attach-agent $sink $end
        $ns connect $tcp $end
        set ftp [new Application/FTP]
        $ftp attach-agent $tcp
        # Spread over the first second, so that the slow starts do not meet.
        $ns at [expr {[ns-random] / 2147483648.0}] "$ftp start"
        lappend agents $tcp
    }
    $ns at $seconds [list dumbbell-done $agents [expr {$mbps * 125000.0}]]
}

proc dumbbell-done {agents bytes_per_s} {
    set delivered 0
    set squares 0.0
    set retransmits 0
    set timeouts 0
    foreach tcp $agents {
        set got [expr {[$tcp set ack_] + 1}]
        incr delivered $got
        set squares [expr {$squares + double($got) * $got}]
        incr retransmits [$tcp set nrexmitpack_]
        incr timeouts [$tcp set nrexmit_]
    }
    set jain [expr {$squares > 0 ? double($delivered) * $delivered / ([llength $agents] * $squares) : 0}]
    report $delivered $bytes_per_s [list $retransmits $timeouts $jain]
}

# Poisson flows of 1000 B packets through one port.
proc poisson {flows mbps load limit kind} {
    global ns seconds
    set left [$ns node]
    set right [$ns node]
    $ns simplex-link $left $right ${mbps}Mb 10ms $kind
    $ns simplex-link $right $left ${mbps}Mb 10ms DropTail
    set q [[$ns link $left $right] queue]
    $ns queue-limit $left $right $limit
    if {$kind eq "RED"} { red $q 1000 }
    if {$kind eq "DRR"} {
        # The bucket is a hash of the source address alone, not of the port.
        $q set buckets_ 16384
        $q set blimit_ [expr {$limit * 1000}]
        $q set quantum_ 1000
        $q set mask_ 0
    }
    watch $left $right
    set sinks {}
    set gap [expr {$flows * 8000.0 / ($load * $mbps * 1e6)}]
    for {set i 0} {$i < $flows} {incr i} {
        set udp [new Agent/UDP]
        set sink [new Agent/LossMonitor]
        $ns attach-agent $left $udp
        $ns attach-agent $right $sink
        $ns connect $udp $sink
        $udp set fid_ $i
        # A source address for each flow, so that a fair queue tells them apart;
        # at distances of 16 the hash has no collisions (each would print a line).
        if {$kind eq "DRR"} { $udp set agent_addr_ [expr {16 * $i}] }
        # No burst time makes bursts of one packet at exponential distances.
        set source [new Application/Traffic/Exponential]
        $source set packetSize_ 1000
        $source set burst_time_ 0
        $source set idle_time_ $gap
        $source set rate_ 1e15
        $source attach-agent $udp
        $ns at 0 "$source start"
        lappend sinks $sink
    }
    $ns at $seconds [list poisson-done $sinks [expr {$mbps * 125000.0}]]
}

proc poisson-done {sinks bytes_per_s} {
    set delivered 0
    foreach sink $sinks { incr delivered [$sink set npkts_] }
    report $delivered $bytes_per_s
}

# The first event of all: what comes before is start-up.
$ns at 0 {set begin [cpu-s]}

switch -- $name {
    d50 { dumbbell 50 100 300 DropTail }
    d50-red { dumbbell 50 100 300 RED }
    d1k { dumbbell 1000 1000 3000 DropTail }
    d10k { dumbbell 10000 10000 30000 DropTail }
    w { poisson 100 100 0.98 300 RED }
    f-drr { poisson 1000 1000 1.2 3000 DRR }
    default {
        puts stderr "no case '$name'; there are d50, d50-red, d1k, d10k, w and f-drr"
        exit 2
    }
}
$ns run
