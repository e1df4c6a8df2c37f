//! The catalog: what numbers are about, the metrics, and what is sampled; one line each.

use spillgate_core::DropReason;

/// From one line per entry: the enum, the list, names, and words for people.
macro_rules! entries {
    ($(#[$doc:meta])* $table:ident; $(
        $variant:ident $name:literal $short:literal $summary:literal;
    )+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $table {
            $(
                #[doc = concat!($summary, ".")]
                $variant,
            )+
        }

        impl $table {
            /// Every one, in the order of reports.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// Its name in tables and files.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// Its heading in a table or over a figure.
            pub const fn short(self) -> &'static str {
                match self { $(Self::$variant => $short,)+ }
            }

            /// What it is, in a line.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)+ }
            }

            /// The one of that name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|e| e.name() == name)
            }
        }
    };
}

/// As [`entries`], of numbers: with a unit, which way it gets better (nothing where that depends on
/// what is wanted), what it needs (nothing if it is there of any traffic), what else is true of it
/// ([`Tag`]), and what people call it.
macro_rules! numbers {
    ($(#[$doc:meta])* $table:ident; $(
        $variant:ident $name:literal
        [$unit:literal $($better:ident)? $(; $needs:ident)? $(, $tag:ident)*]
        $short:literal $label:literal $summary:literal;
    )+) => {
        entries! {
            $(#[$doc])*
            $table;
            $($variant $name $short $summary;)+
        }

        impl $table {
            /// Its unit: one of `s`, `b/s`, `B`, `packets`, `cells`, `events`, `transfers`,
            /// `flows`, `sessions`, `score`, `factor`, or `1` for ratios.
            pub const fn unit(self) -> &'static str {
                match self { $(Self::$variant => $unit,)+ }
            }

            /// Whether less of it is better for its users, or more; none if that depends on what
            /// is wanted.
            pub const fn better(self) -> Option<Better> {
                let ways: &[Better] = match self { $(Self::$variant => &[$(Better::$better)?],)+ };
                ways.first().copied()
            }

            /// What must be there for it to be measured; none if any traffic has it.
            pub const fn needs(self) -> Option<Needs> {
                let all: &[Needs] = match self { $(Self::$variant => &[$(Needs::$needs)?],)+ };
                all.first().copied()
            }

            /// What else is true of it.
            pub const fn tags(self) -> &'static [Tag] {
                match self { $(Self::$variant => &[$(Tag::$tag),*],)+ }
            }

            /// Whether this is true of it.
            pub fn has(self, tag: Tag) -> bool {
                self.tags().contains(&tag)
            }

            /// What people call it: on an axis, within a sentence.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label,)+ }
            }
        }
    };
}

entries! {
    /// What a number is about.
    Scope;
    Flow "flow" "flow" "One flow";
    Class "class" "class" "The flows of a class of service";
    Dscp "dscp" "DSCP" "The flows with a code point at the source";
    Queue "queue" "queue" "A queue of a port, `link/queue`";
    Link "link" "link" "A link";
    Exp "exp" "EXP" "The labelled packets on a link whose top label has certain EXP bits, `link/5`";
    Input "input" "arriving" "A class of the policy at the receiving end of a link, `link/class`";
    Meter "meter" "meter" "The meter of a policer, `link/class`";
    QueueDscp "queue-dscp" "queue by DSCP" "The packets of a queue that have a code point there, `link/queue/af11`";
    ClassDscp "class-dscp" "class by DSCP" "The packets of a class that arrived or were lost with a code point, `class/af11`";
    Node "node" "node" "A node that holds packets before it passes them to a port";
    Switch "switch" "switch" "A switch";
    SwitchInput "switch-input" "input" "An input of a switch, by the link that ends there: what waits in its queues";
    SwitchOutput "switch-output" "output" "An output of a switch, by the link that begins there: what waits for it at all inputs";
    Voq "voq" "virtual output queue" "A virtual output queue of a switch, by the links of its input and its output, `in/out`";
    AtmPort "atm-port" "port" "An output port of an ATM switch, by the link that begins there: its cells";
    AtmLine "atm-line" "line" "A line at an edge that circuits of ATM share, `edge/atm0`";
    Site "site" "site" "The flows of a class at a customer's site, where something is required of them";
    Admission "admission" "admission at" "The flows of a class at a link with flow admission, `link/class`";
    Total "total" "all" "All traffic";
}

numbers! {
    /// A number that a run yields about a flow, a class, a queue or a link.
    Metric;
    Offered "offered" ["b/s"] "offered" "offered load" "Rate of IP packets that the sources sent";
    Throughput "throughput" ["b/s" More, Required] "throughput" "throughput" "Rate of IP packets that arrived within the measured period, whenever they were sent";
    Carried "carried" ["b/s"] "carried" "carried rate" "Rate that a queue sent or a link carried within the measured period, link overhead included";
    CarriedMarked "carried_marked" ["b/s"] "marked" "rate let in with other marks" "Part of what a policy let in at arrival that it gave another DSCP, EXP, CoS or QoS group";
    Conform "conform" ["b/s" More; Meter] "conforms" "rate in profile" "Rate of packets that a meter found to conform, as its policer counts bytes";
    Exceed "exceed" ["b/s"; Meter] "exceeds" "rate that exceeds" "Rate of packets that a meter found to exceed";
    Violate "violate" ["b/s"; Meter] "violates" "rate that violates" "Rate of packets that a meter of three colors found to violate";
    PacketsConform "packets_conform" ["packets"; Meter] "conforming" "packets that conform" "Packets that a meter found to conform within the measured period";
    PacketsExceed "packets_exceed" ["packets"; Meter] "exceeding" "packets that exceed" "Packets that a meter found to exceed";
    PacketsViolate "packets_violate" ["packets"; Meter] "violating" "packets that violate" "Packets that a meter of three colors found to violate";
    BytesConform "bytes_conform" ["B"; Meter] "bytes conform" "bytes that conform" "Bytes of the packets that conform";
    BytesExceed "bytes_exceed" ["B"; Meter] "bytes exceed" "bytes that exceed" "Bytes of the packets that exceed";
    BytesViolate "bytes_violate" ["B"; Meter] "bytes violate" "bytes that violate" "Bytes of the packets that violate";
    ConformRatio "conform_ratio" ["1" More; Meter] "in profile" "share in profile" "Share of the bytes that came to a meter which conform";
    ExceedRatio "exceed_ratio" ["1"; Meter] "exceed" "share that exceeds" "Share of the bytes that came to a meter which exceed";
    ViolateRatio "violate_ratio" ["1"; Meter] "violate" "share that violates" "Share of the bytes that came to a meter which violate";
    CarriedLabels "carried_labels" ["b/s"] "labels" "rate of MPLS labels" "Part of what a link carried that is MPLS labels";
    LossRatio "loss_ratio" ["1" Less, Required, Certain] "loss" "lost packets" "Lost packets over sent packets; of a queue `packets_lost` over `packets_offered`";
    PacketsSent "packets_sent" ["packets"] "sent" "packets sent" "Packets that the sources sent within the measured period";
    PacketsReceived "packets_received" ["packets" More] "received" "packets received" "Of those: packets that arrived, also after it";
    PacketsOffered "packets_offered" ["packets"] "came" "packets offered to a queue" "Packets that came to a queue or a meter within the measured period, lost ones included";
    PacketsLost "packets_lost" ["packets" Less] "lost" "packets lost at a queue" "Of those: packets that the queue dropped or its link lost within the measured period, whatever for: the sum of `drops_*`; of a class and a code point the packets that were lost with it";
    Unresolved "unresolved" ["packets"] "unresolved" "packets still on their way" "Packets of the measured period that had neither arrived nor been lost when their flow's time after it was over (`measurement.grace`)";
    DropsTail "drops_tail" ["packets" Less] "tail drops" "drops of full queues" "Lost because the queue was full";
    DropsEarly "drops_early" ["packets" Less] "early drops" "early drops by AQMs" "Lost to an AQM before the queue was full: by chance, or for too long a wait";
    DropsForced "drops_forced" ["packets" Less] "forced drops" "forced drops by AQMs" "Lost to an AQM above its upper threshold";
    DropsPolicer "drops_policer" ["packets" Less] "policed" "drops by policers" "Lost to a policer";
    DropsPushedOut "drops_pushed_out" ["packets" Less] "pushed out" "packets pushed out of queues" "Pushed out of a queue to make room for another packet";
    DropsAdmission "drops_admission" ["packets" Less] "not admitted" "packets refused by flow admission" "Refused by flow admission";
    DropsLinkDown "drops_link_down" ["packets" Less] "link down" "drops on links that were down" "Lost because the link was down";
    DropsUnroutable "drops_unroutable" ["packets" Less] "no route" "packets without a route" "Lost without a route to the destination";
    DropsTooBig "drops_too_big" ["packets" Less] "too big" "packets above the MTU" "Lost because they were longer, with their labels, than a link's `mtu`";
    DropsLinkLoss "drops_link_loss" ["packets" Less] "link loss" "packets lost at random on links" "Lost at random on a link with `loss`";
    DropsInputQueue "drops_input_queue" ["packets" Less] "input drops" "drops of full input queues" "Lost because the input queue of a switch, or of a node with `forwarding`, was full";
    DropsCell "drops_cell" ["packets" Less] "cells lost" "packets that lost a cell" "Lost because an ATM switch lost a cell of their AAL5 frame";
    DropsFrame "drops_frame" ["packets" Less] "merged" "packets in frames that were merged" "Lost because the last cell of the frame before was lost, so that AAL5 took both for one";
    DropsEpd "drops_epd" ["packets" Less] "EPD" "packets of early packet discard" "Lost as a whole by early packet discard in an ATM switch";
    DropsAckFilter "drops_ack_filter" ["packets"] "ACKs filtered" "acknowledgments dropped by ACK filters" "Acknowledgments that an ACK filter dropped because later ones in the queue tell the same and more";
    MarksCe "marks_ce" ["packets"] "CE marks" "packets marked with CE" "Packets marked with congestion experienced (RFC 3168)";
    RewrittenEcn "rewritten_ecn" ["packets"] "ECN rewritten" "packets whose ECN field was rewritten" "Packets whose ECN field a link with `rewrite_ecn` changed";
    MarksErased "marks_erased" ["packets"] "marks erased" "CE marks taken away" "Of those: packets that had been marked with CE";
    OwdMean "owd_mean" ["s" Less, Required, Certain] "mean delay" "mean one-way delay" "Mean one-way delay (RFC 7679)";
    OwdMin "owd_min" ["s"] "smallest delay" "smallest one-way delay" "Smallest one-way delay";
    OwdP50 "owd_p50" ["s" Less, Required, Certain] "median delay" "median one-way delay" "Median one-way delay";
    OwdP95 "owd_p95" ["s" Less, Required, Certain] "95 % delay" "95th percentile of one-way delay" "95th percentile of the one-way delay";
    OwdP99 "owd_p99" ["s" Less, Required, Certain] "99 % delay" "99th percentile of one-way delay" "99th percentile of the one-way delay";
    OwdP999 "owd_p999" ["s" Less, Required, Certain] "99.9 % delay" "99.9th percentile of one-way delay" "99.9th percentile of the one-way delay";
    OwdMax "owd_max" ["s" Less, Required, Certain] "largest delay" "largest one-way delay" "Largest one-way delay";
    Jitter "jitter" ["s" Less, Required] "jitter" "jitter (RFC 3550)" "Interarrival jitter (RFC 3550), mean over the packets";
    Pdv "pdv" ["s" Less, Required] "PDV" "delay variation (99.9 % − min)" "Packet delay variation: 99.9th percentile minus minimum of the one-way delay (RFC 5481)";
    PdvP99999 "pdv_p99999" ["s" Less, Required] "PDV 99.999 %" "delay variation (99.999 % − min)" "99.999th percentile minus minimum of the one-way delay (ITU-T Y.1541); of fewer than 100,000 packets the largest minus the smallest";
    SojournMean "sojourn_mean" ["s" Less] "mean sojourn" "mean time in the queue" "Mean time in the queue";
    SojournP50 "sojourn_p50" ["s" Less] "median sojourn" "median time in the queue" "Median time in the queue";
    SojournP95 "sojourn_p95" ["s" Less] "95 % sojourn" "95th percentile of time in the queue" "95th percentile of the time in the queue";
    SojournP99 "sojourn_p99" ["s" Less] "99 % sojourn" "99th percentile of time in the queue" "99th percentile of the time in the queue";
    SojournP999 "sojourn_p999" ["s" Less] "99.9 % sojourn" "99.9th percentile of time in the queue" "99.9th percentile of the time in the queue";
    SojournMax "sojourn_max" ["s" Less] "longest sojourn" "longest time in the queue" "Longest time in the queue";
    BacklogPacketsMean "backlog_packets_mean" ["packets" Less] "mean backlog" "mean backlog in packets" "Time average of the packets waiting";
    BacklogPacketsP50 "backlog_packets_p50" ["packets" Less; Percentiles] "median backlog" "median of the backlog in packets" "Median of the packets waiting, by time";
    BacklogPacketsP95 "backlog_packets_p95" ["packets" Less; Percentiles] "95 % backlog" "95th percentile of the backlog in packets" "95th percentile of the packets waiting, by time";
    BacklogPacketsP99 "backlog_packets_p99" ["packets" Less; Percentiles] "99 % backlog" "99th percentile of the backlog in packets" "99th percentile of the packets waiting, by time";
    BacklogPacketsMax "backlog_packets_max" ["packets" Less] "largest backlog" "largest backlog in packets" "Most packets waiting at once";
    BacklogBytesMean "backlog_bytes_mean" ["B" Less] "mean bytes" "mean backlog in bytes" "Time average of the bytes waiting";
    BacklogBytesP50 "backlog_bytes_p50" ["B" Less; Percentiles] "median bytes" "median of the backlog in bytes" "Median of the bytes waiting, by time";
    BacklogBytesP95 "backlog_bytes_p95" ["B" Less; Percentiles] "95 % bytes" "95th percentile of the backlog in bytes" "95th percentile of the bytes waiting, by time";
    BacklogBytesP99 "backlog_bytes_p99" ["B" Less; Percentiles] "99 % bytes" "99th percentile of the backlog in bytes" "99th percentile of the bytes waiting, by time";
    BacklogBytesMax "backlog_bytes_max" ["B" Less] "most bytes" "largest backlog in bytes" "Most bytes waiting at once";
    BacklogAverageMean "backlog_average_mean" ["packets" Less] "mean average" "mean of the average backlog" "Mean of the average queue that RED or another AQM keeps, as of each packet that it judged when it came within the measured period";
    BacklogAverageBytesMean "backlog_average_bytes_mean" ["B" Less] "average bytes" "mean of the average backlog in bytes" "Mean of the average queue that RED or WRED keeps where its thresholds are in bytes, as of each packet that it judged when it came within the measured period";
    CellsOffered "cells_offered" ["cells"] "cells came" "cells offered to a port" "Cells that came to a port of an ATM switch within the measured period, lost ones included";
    CellsLost "cells_lost" ["cells" Less] "cells lost" "cells lost at a port" "Of those: cells that were lost, whatever for";
    CellsTagged "cells_tagged" ["cells"] "tagged" "cells tagged" "Of those: cells that came with their loss priority set (CLP 1)";
    BacklogCellsMean "backlog_cells_mean" ["cells" Less] "mean cells" "mean backlog in cells" "Time average of the cells waiting";
    BacklogCellsMax "backlog_cells_max" ["cells" Less] "most cells" "largest backlog in cells" "Most cells waiting at once";
    Utilization "utilization" ["1"] "utilization" "utilization" "Share of the time in which the link was sending, or a node forwarding";
    Goodput "goodput" ["b/s" More; Tcp, Required] "goodput" "goodput" "Rate of TCP payload that arrived within the measured period, each byte once";
    Retransmits "retransmits" ["packets" Less; Tcp] "retransmits" "segments retransmitted" "TCP segments that were retransmitted";
    Timeouts "timeouts" ["events" Less; Tcp, Rare] "timeouts" "retransmission timeouts" "Expirations of TCP's retransmission timer";
    TransfersBegun "transfers_begun" ["transfers"; Tcp] "begun" "transfers begun" "TCP transfers and requests that began";
    TransfersDone "transfers_done" ["transfers" More; Tcp] "done" "transfers completed" "Of those: completed, also after the measured period (`measurement.grace`)";
    TransfersFailed "transfers_failed" ["transfers" Less; Tcp, Required, Rare] "failed" "transfers given up" "Of those: given up by TCP after too many timeouts";
    TransfersRefused "transfers_refused" ["transfers" Less; Tcp, Required, Rare] "refused" "sessions refused" "Sessions that did not begin because as many as allowed were open";
    FctMean "fct_mean" ["s" Less; Tcp] "mean time" "mean time of transfers" "Mean time from the start of a transfer to its last acknowledgment, or of a request to its response, of those that completed";
    FctP50 "fct_p50" ["s" Less; Tcp, Required] "median time" "median time of transfers" "Median of these times";
    FctP95 "fct_p95" ["s" Less; Tcp, Required] "95 % time" "95th percentile of times of transfers" "95th percentile of these times";
    FctP99 "fct_p99" ["s" Less; Tcp, Required] "99 % time" "99th percentile of times of transfers" "99th percentile of these times";
    RFactor "r_factor" ["score" More; Speech, Required] "R factor" "rating of speech (R factor)" "Rating R of speech by the E-model (ITU-T G.107, 0 to 100; of wideband codecs G.107.1, 0 to 129); of several calls the mean, undefined where they are rated on both scales";
    Mos "mos" ["score" More; Speech, Required] "MOS" "mean opinion score" "Mean opinion score of speech by the E-model (MOS-CQE, ITU-T G.107), 1 to 4.5; of several calls the mean";
    MosMin "mos_min" ["score" More; Speech, Required] "worst MOS" "smallest mean opinion score of a call" "The smallest mean opinion score of a call";
    MouthToEar "mouth_to_ear" ["s" Less; Speech, Required] "mouth to ear" "delay from mouth to ear" "Mean delay of speech from mouth to ear: codec, network and de-jitter buffer";
    LateRatio "late_ratio" ["1" Less; Speech, Required] "late" "packets of speech too late to play" "Packets of speech that came too late to be played over those sent";
    BurstRatio "burst_ratio" ["factor"; Speech] "burst ratio" "burst ratio of losses" "Mean length of bursts of missing packets of speech over that of independent losses (ITU-T G.107), 1 to 8";
    GapMax "gap_max" ["s" Less; Gaps, Required] "longest gap" "longest time without an arrival" "Longest time between arrivals of a flow in the period of `measurement.gaps`, of several flows the longest";
    FlowsOffered "flows_offered" ["flows"; Admission] "flows" "flows offered to admission" "Flows whose first packet came to a link with flow admission; several links count several times";
    FlowsWaiting "flows_waiting" ["flows" Less; Admission, Required, Rare] "still waiting" "flows not admitted" "Of those: not admitted when the run ended";
    FlowsRemoved "flows_removed" ["events"; Admission, Rare] "removed" "removals of admitted flows" "Removals of admitted flows by the congestion mechanism of flow admission";
    WaitingTime "waiting_time" ["s" Less; Admission, Required] "mean wait" "mean time to admission" "Mean time from a flow's first packet at a link with flow admission to its admission there; of flows not admitted, to the end of the run";
    WaitingTimeP95 "waiting_time_p95" ["s" Less; Admission, Required] "95 % wait" "95th percentile of times to admission" "95th percentile of these times";
    WaitingTimeMax "waiting_time_max" ["s" Less; Admission, Required] "longest wait" "longest time to admission" "The longest of these times";
    LossInput "loss_input" ["1" Less; Switch] "input loss" "packets lost at inputs" "Packets that came to a switch and were lost at its inputs over packets that came to it";
    LossOutput "loss_output" ["1" Less; Switch] "output loss" "packets lost at outputs" "Packets that came to a switch and were lost in the queues of its outputs over packets that came to it";
    SwitchDelayMean "switch_delay_mean" ["s" Less; Switch] "mean delay" "mean delay through the switch" "Mean time from a packet's arrival at a switch until its output begins to send it";
    SwitchDelayP99 "switch_delay_p99" ["s" Less; Switch] "99 % delay" "99th percentile of delay through the switch" "99th percentile of these times";
    SlotsUsed "slots_used" ["1"; Switch] "slots used" "share of slots used" "Share of a crossbar's slots in which something crossed to the output";
    SlotsWasted "slots_wasted" ["1" Less; Switch] "slots wasted" "share of slots wasted" "Share of a crossbar's slots in which nothing crossed to the output although packets for it waited at inputs";
    SlotsIdle "slots_idle" ["1"; Switch] "slots idle" "share of slots idle" "Share of a crossbar's slots in which nothing waited for the output";
    Jain "jain" ["1" More, Plain] "fairness" "Jain's fairness index" "Jain's fairness index of the flows' throughputs";
}

numbers! {
    /// A value that is sampled while a run goes on.
    Sampled;
    BacklogPackets "backlog_packets" ["packets"] "Queues" "backlog" "packets waiting in each queue";
    BacklogBytes "backlog_bytes" ["B"] "Queues in bytes" "backlog" "bytes waiting in each queue";
    VoqBacklog "voq_backlog" ["packets"] "Virtual output queues" "backlog" "packets waiting in each virtual output queue";
    BacklogCells "backlog_cells" ["cells"] "Cells at ATM switches" "waiting cells" "cells waiting at each output port of an ATM switch";
    BacklogAverage "backlog_average" ["packets"] "Average queues" "average backlog" "average that RED or WRED keeps of each queue";
    BacklogAverageBytes "backlog_average_bytes" ["B"] "Average queues in bytes" "average backlog" "average that RED or WRED keeps of each queue where its thresholds are in bytes";
    DropRate "drops_per_second" ["packets/s"] "Drops at queues" "drops" "packets that each queue drops in a second";
    AdaptedMaxP "adapted_max_p" ["1"] "Adapted max_p" "max_p" "largest early drop probability, as adaptive or self-configuring RED has set it";
    AdaptedMaxTh "adapted_max_th" ["packets"] "Adapted max_th" "max_th" "upper threshold, as load-adaptive RED has set it, or adaptive RIO for packets out of profile";
    AdaptedLoss "adapted_loss" ["1"] "Loss estimates" "average loss" "share of packets dropped or marked, as load-adaptive RED averages it";
    AdaptedReference "adapted_reference" ["b/s"] "References" "reference rate" "rate with which adaptive RIO compares arrivals";
    AdaptedArrivalRate "adapted_arrival_rate" ["b/s"] "Arrival estimates" "arrival rate" "rate of arrivals, as adaptive RIO or GREEN estimates it";
    DropProbability "drop_probability" ["1"] "Drop probabilities" "drop probability" "probability with which an AQM that keeps one (PIE, GREEN, BLUE, ...) drops or marks what comes, or DualPI2 what leaves its classic queue";
    RemPrice "rem_price" ["1"] "REM's price" "price" "price of the link, as REM has set it";
    AvqCapacity "avq_capacity" ["b/s"] "AVQ's virtual capacity" "virtual capacity" "rate at which AVQ serves its virtual queue";
    AvqQueue "avq_queue" ["B"] "AVQ's virtual queue" "virtual queue" "bytes in AVQ's virtual queue";
    SredHits "sred_hits" ["1"] "SRED's hits" "hits" "share of arrivals that hit SRED's list of flows: about 1 over the number of active ones";
    SfbProbability "sfb_probability" ["1"] "SFB's probabilities" "highest probability" "highest probability among the bins of SFB's first level";
    BaseProbability "base_probability" ["1"] "Base probabilities" "base probability" "base probability of PI2 and DualPI2, whose square is that of classic packets";
    L4sProbability "l4s_probability" ["1"] "Mark probabilities of L4S" "L4S probability" "probability with which DualPI2 marked the packet that left its L4S queue last";
    L4sPackets "l4s_packets" ["packets"] "L4S queues" "L4S queue" "packets waiting in DualPI2's queue for scalable senders";
    ClassicPackets "classic_packets" ["packets"] "Classic queues" "classic queue" "packets waiting in DualPI2's queue for classic senders";
    PieDelay "pie_delay" ["s"] "Delays of PIE and PI2" "delay as PIE takes it" "delay by which PIE, PI2 or DualPI2 has set its probability last";
    PieBurst "pie_burst" ["s"] "PIE's burst allowance" "burst allowance" "rest of the burst in which PIE drops nothing";
    CodelDropping "codel_dropping" ["1"] "CoDel's dropping state" "dropping" "whether CoDel is in its dropping state (1) or not (0)";
    CodelCount "codel_count" ["packets"] "CoDel's count" "count" "CoDel's count, by whose square root it divides the interval between drops";
    CodelNext "codel_next" ["s"] "CoDel's next drop" "time to next drop" "time until CoDel's next drop falls due; undefined while it does not drop";
    FlowsCounted "flows_counted" ["flows"] "Flows counted" "flows" "flows that have sent within the window of GREEN by TCP's equation";
    FlowsQueued "flows_queued" ["flows"] "Flows queued" "queues in use" "queues of a fair queue that hold packets";
    SparseFlows "sparse_flows" ["flows"] "Sparse queues of CAKE" "sparse queues" "queues of each tin of CAKE that have not used up their first turn since they were empty";
    BulkFlows "bulk_flows" ["flows"] "Bulk queues of CAKE" "bulk queues" "queues of each tin of CAKE that take turns";
    DecayingFlows "decaying_flows" ["flows"] "Decaying queues of CAKE" "decaying queues" "queues of each tin of CAKE that are empty and whose COBALT comes to rest";
    QueueDelay "queue_delay" ["s"] "Queue delays" "queue delay" "how long the packet that leaves each queue next has waited; at a FIFO that decides at arrival, how long its link takes to send what waits";
    TokensPolicer "tokens_policer" ["B"] "Tokens of policers" "tokens" "tokens in the committed bucket of each policer";
    TokensPriority "tokens_priority" ["B"] "Tokens of priority classes" "tokens" "tokens in the bucket that limits each priority class";
    TokensShaper "tokens_shaper" ["B"] "Tokens of shapers" "tokens" "tokens in the bucket of each shaper";
    TokensRate "tokens_rate" ["B"] "Tokens of HTB's rates" "tokens" "tokens in the bucket of the rate of each class of HTB";
    TokensCeil "tokens_ceil" ["B"] "Tokens of HTB's ceilings" "tokens" "tokens in the bucket of the ceiling of each class of HTB";
    Throughput "throughput" ["b/s"] "Rate of each class" "throughput" "rate at which packets of each class arrive";
    Carried "carried" ["b/s"] "Rate on links" "carried rate" "rate that each link sends, link overhead included";
    Cwnd "cwnd" ["B"] "Congestion windows" "congestion window" "TCP's congestion window of each connection";
    Srtt "srtt" ["s"] "Round-trip times" "smoothed RTT" "TCP's smoothed round-trip time of each connection";
    ClassicEcn "classic_ecn" ["1"] "Detection of classic AQMs" "classic_ecn" "how sure Prague is that a classic AQM marks its packets: up to 8 not, from 9 to 17 so that it slows down as classic senders do";
    SessionsOpen "sessions_open" ["sessions"] "Open sessions" "open sessions" "sessions under way";
    FairRate "fair_rate" ["b/s"] "Fair rate" "fair rate" "fair rate of each link with flow admission, as of its last tick";
    PriorityLoad "priority_load" ["1"] "Priority load" "priority load" "priority load of each link with flow admission";
    FlowsListed "flows_listed" ["flows"] "Protected flows" "protected flows" "flows on each list of protected flows";
    FlowsBlocked "flows_blocked" ["flows"] "Blocked flows" "blocked flows" "flows that each link blocks";
}

/// Which way a metric gets better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Less of it.
    Less,
    /// More of it.
    More,
}

/// What must be there for a metric to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Flows of TCP.
    Tcp,
    /// Flows that carry speech.
    Speech,
    /// A link with flow admission.
    Admission,
    /// A period in which gaps are measured (`measurement.gaps`).
    Gaps,
    /// A node that is a switch.
    Switch,
    /// A policer.
    Meter,
    /// That percentiles of backlogs are asked for (`measurement.percentiles`).
    Percentiles,
}

impl Needs {
    /// What a scenario says to have it measured, if that alone is missing.
    pub const fn key(self) -> Option<&'static str> {
        match self {
            Self::Percentiles => Some("measurement: {percentiles: [backlog]}"),
            Self::Gaps => Some("measurement: {gaps: {}}"),
            _ => None,
        }
    }

    /// `tcp`, `speech`, `admission`, `gaps`, `switch`, `meter` or `percentiles`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Speech => "speech",
            Self::Admission => "admission",
            Self::Gaps => "gaps",
            Self::Switch => "switch",
            Self::Meter => "meter",
            Self::Percentiles => "percentiles",
        }
    }
}

/// What else is true of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tag {
    /// A requirement may bound it.
    Required,
    /// A requirement on it may be one of certainty: bounds say what it cannot exceed.
    Certain,
    /// It counts what seldom happens: columns of zeros are left out.
    Rare,
    /// A ratio that is shown as a number, not in percent.
    Plain,
}

impl Tag {
    /// `required`, `certain`, `rare` or `plain`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::Certain => "certain",
            Self::Rare => "rare",
            Self::Plain => "plain",
        }
    }
}

impl Better {
    /// `less` or `more`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Less => "less",
            Self::More => "more",
        }
    }
}

impl Metric {
    /// The metric that counts the drops for `reason`.
    pub const fn drops(reason: DropReason) -> Self {
        match reason {
            DropReason::Tail => Self::DropsTail,
            DropReason::Early => Self::DropsEarly,
            DropReason::Forced => Self::DropsForced,
            DropReason::Policer => Self::DropsPolicer,
            DropReason::PushedOut => Self::DropsPushedOut,
            DropReason::Admission => Self::DropsAdmission,
            DropReason::LinkDown => Self::DropsLinkDown,
            DropReason::Unroutable => Self::DropsUnroutable,
            DropReason::TooBig => Self::DropsTooBig,
            DropReason::LinkLoss => Self::DropsLinkLoss,
            DropReason::InputQueue => Self::DropsInputQueue,
            DropReason::Cell => Self::DropsCell,
            DropReason::Frame => Self::DropsFrame,
            DropReason::EarlyFrame => Self::DropsEpd,
            DropReason::Filtered => Self::DropsAckFilter,
        }
    }

    /// Whether it is a one-way delay: mean, quantile or extreme.
    pub fn is_delay(self) -> bool {
        self.name().starts_with("owd_")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_drops_agree_with_their_reasons() {
        for (i, m) in Metric::ALL.iter().enumerate() {
            assert_eq!(*m as usize, i);
            assert_eq!(Metric::from_name(m.name()), Some(*m));
            assert!(
                [
                    "s",
                    "b/s",
                    "B",
                    "packets",
                    "cells",
                    "events",
                    "transfers",
                    "flows",
                    "score",
                    "factor",
                    "1"
                ]
                .contains(&m.unit())
            );
            assert!(!m.summary().ends_with('.'));
            // Headings stand side by side in one table.
            assert!(m.short().chars().count() <= 16, "{}", m.short());
            assert_eq!(
                Metric::ALL
                    .iter()
                    .filter(|k| k.label() == m.label())
                    .count(),
                1
            );
        }
        for s in Sampled::ALL {
            let same = Metric::from_name(s.name());
            assert!(same.is_none_or(|m| (m.unit(), m.label()) == (s.unit(), s.label())));
        }
        for r in DropReason::ALL {
            assert_eq!(Metric::drops(r).name(), r.metric());
        }
        assert_eq!(Metric::from_name("owd"), None);
    }
}
