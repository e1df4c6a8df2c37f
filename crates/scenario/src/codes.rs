//! The stable codes of diagnostics, for documentation and for scripts.

/// Defines the stable codes of a crate's diagnostics: a constant for each code, and `CODES`, the
/// ordered list of all codes with their meanings.
#[macro_export]
macro_rules! diagnostic_codes {
    ($($name:ident = $code:literal, $meaning:literal;)+) => {
        $(
            #[doc = $meaning]
            pub const $name: &str = $code;
        )+

        /// Every code with its meaning, in order.
        pub const CODES: &[(&str, &str)] = &[$(($code, $meaning)),+];
    };
}

diagnostic_codes! {
    UNREADABLE = "E0101", "A file cannot be read.";
    TOO_LARGE = "E0102", "A file is larger than this program reads.";
    NOT_UTF8 = "E0103", "A file is not UTF-8 text.";
    YAML = "E0104", "The text is not YAML.";
    DUPLICATE_KEY = "E0105", "A key occurs twice in a mapping.";
    TOO_DEEP = "E0106", "Values are nested too deeply.";
    ALIAS = "E0107", "An alias cannot be expanded.";
    UNSUPPORTED_YAML = "E0108", "A feature of YAML that scenarios do not use.";
    EMPTY = "E0109", "The file has no content.";
    OUTSIDE = "E0110", "A file outside the scenario's folder, where none may be read.";

    WRONG_TYPE = "E0201", "A value is of the wrong kind.";
    UNKNOWN_KEY = "E0202", "A key that is not known at its place.";
    MISSING_KEY = "E0203", "A key that must be given is missing.";
    UNKNOWN_KIND = "E0204", "A name that is not among the possible ones.";
    BAD_VALUE = "E0205", "A value that cannot be read: a number, a unit or a range is wrong.";
    OUT_OF_RANGE = "E0206", "A number outside its range.";
    TOO_MANY = "E0207", "So many errors that the rest is not shown.";

    BAD_OVERRIDE = "E0301", "An override is not of the form path=value.";
    NO_SUCH_PATH = "E0302", "The path of an override leads nowhere.";
    AMBIGUOUS_PATH = "E0303", "The path of an override fits several places.";
    FIXED_IN_VARIANT = "E0304", "A variant changes what all variants share.";

    UNKNOWN_NODE = "E0401", "A node that the topology does not have.";
    UNKNOWN_LINK = "E0402", "A link that the topology does not have.";
    UNKNOWN_POLICY = "E0403", "A policy that is not defined.";
    DUPLICATE_NAME = "E0404", "A name that is given twice.";
    BAD_NAME = "E0405", "A name that cannot be used.";
    SELF_LINK = "E0406", "A link or a flow from a node to itself.";
    IMPORT_UNAVAILABLE = "E0407", "Router configurations cannot be read here.";
    UNKNOWN_INTERFACE = "E0408", "An interface that the configuration does not have.";
    ATTACHED_TWICE = "E0409", "Two policies for one link.";
    BAD_POLICY = "E0410", "A policy that cannot be built.";
    NO_NODES = "E0411", "A topology without nodes or links.";
    GROUP_SIZES = "E0412", "A link between two groups of different sizes.";
    FAILURE_OVERLAP = "E0413", "A link that fails while it is down.";
    BAD_MPLS = "E0414", "An MPLS network that cannot be.";
    BAD_RATES = "E0415", "A schedule or trace of rates that cannot be.";
    BAD_NODE = "E0416", "A node that cannot be what it is said to be.";
    BAD_ATM = "E0417", "A circuit of ATM that cannot be.";
    CONFIG_SOURCE = "E0418", "A configuration without a file, or with two.";

    NO_ROUTE = "E0501", "A flow without a path to its destination.";
    NO_TRAFFIC = "E0502", "A scenario without flows.";
    BAD_SOURCE = "E0503", "A source with a value out of range.";
    BAD_ADDRESS = "E0504", "An address that a flow cannot have.";
    BAD_PORT = "E0505", "A port where the protocol has none.";
    BAD_TIMES = "E0506", "A flow that stops before it starts, a link that is repaired before it fails, or packets on their way for longer than a run may take.";
    TOO_MANY_FLOWS = "E0507", "More flows or classes than this program runs.";
    BAD_PATTERN = "E0508", "A pattern of traffic that these senders, receivers or sources cannot have.";
    TABLE_SYNTAX = "E0511", "A table is not well-formed.";
    TABLE_HEADER = "E0512", "The columns of a table are not the ones that are known.";
    TABLE_ROW = "E0513", "A row of a table lacks a value or has too many.";
    BAD_CAPTURE = "E0521", "A capture is damaged, or is none.";
    NO_PACKETS = "E0522", "A capture has no packets of those that are asked for.";

    BAD_PERIOD = "E0601", "A period of the measurement that cannot be used.";
    BAD_BOUND = "E0602", "A bound that does not fit its metric.";
    UNKNOWN_CLASS = "E0603", "A class of service that no flow has.";
    BAD_RUNS = "E0604", "A number of runs that cannot be used.";
    MEMORY = "E0605", "The runs need more memory than there is.";
    BAD_VERSION = "E0606", "A version of the format that this program does not read.";
    BAD_VOICE = "E0607", "Speech that cannot be rated as written.";
    BAD_SLA = "E0608", "A requirement that does not say what is required of whom.";
    UNKNOWN_VARIANT = "E0609", "A variant that the scenario does not have.";
    BAD_AXIS = "E0610", "An axis that cannot be varied as written.";
    BAD_STUDY = "E0611", "A study that cannot be made as written.";

    W_POLICY = "W0401", "A policy that may not do what was meant.";
    W_BANDWIDTH = "W0402", "An interface's bandwidth differs from its link's rate.";
    W_NO_POLICY = "W0403", "An interface that is mapped to a link but has no output policy.";
    W_LATE_FAILURE = "W0404", "A failure after the end of the run.";
    W_COUNTED = "W0405", "A link that adds fewer bytes to a packet than the router of its policy counts.";
    W_LABELS = "W0406", "A class that does not see labels, or sees none.";
    W_UNLABELLED = "W0407", "An interface with MPLS whose link carries no labels.";
    W_NO_TAG = "W0408", "A CoS on a link whose frames carry no 802.1Q tag.";
    W_NO_WAY_IN = "W0409", "An interface over which nothing arrives in the topology.";
    W_LONG = "W0410", "Packets longer than the MTU of a flow-aware link.";
    W_NODE = "W0411", "A node that may not do what was meant.";
    W_AGREEMENT = "W0412", "An agreement with a customer that cannot be kept, or that concerns no packet.";
    W_ATM = "W0413", "A contract of ATM that has no effect, or that packets cannot keep, or a circuit that users do not have.";
    W_PROMISES = "W0414", "More guaranteed to circuits of ATM than their line carries.";
    W_UNLIMITED = "W0415", "A queue without a limit that traffic fills.";
    W_OWN = "W0416", "An AQM of one's own that no queue has.";
    W_NEVER = "W0501", "A flow that sends nothing in the measured period.";
    W_CUT_OFF = "W0502", "A failure that leaves a flow without a path.";
    W_ONE_OF_GROUP = "W0503", "A single flow from or to a group.";
    W_NO_LABELS = "W0504", "An MPLS network that no flow crosses.";
    W_MEASURED = "W0511", "Averages that a router has measured stand for the traffic.";
    W_CODE_POINT = "W0512", "A measured class whose packets may have other code points.";
    W_CAPTURE = "W0521", "A capture in which something is not as it was on the wire.";
    W_WARMUP = "W0601", "No warm-up.";
    W_RUNS = "W0602", "Too few runs for an interval.";
    W_UNRATED = "W0603", "Speech whose codec has no planning values.";
    W_STUDY = "W0604", "A study whose points are not quite what was asked for.";
}

/// The meaning of a code as the message of an error.
pub(crate) fn meaning(code: &str) -> String {
    let found = CODES.iter().find(|(c, _)| *c == code);
    let text = found.map_or("The file cannot be read as what it should be.", |(_, m)| m);
    let (first, rest) = text.split_at(1);
    first.to_lowercase() + rest.trim_end_matches('.')
}

#[cfg(test)]
mod tests {
    use super::CODES;

    #[test]
    fn codes_are_unique_and_ordered_by_kind() {
        for pair in CODES.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} before {}", pair[0].0, pair[1].0);
        }
    }
}
