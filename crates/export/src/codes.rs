//! Codes of errors of an export.

spillgate_scenario::diagnostic_codes! {
    NO_PORT = "E0741", "An interface or link that is to be exported does not exist or has no policy.";
    NO_RATE = "E0742", "The rate of a port to be exported is not known.";
    BAD_DEVICE = "E0743", "A text cannot be the name of a network device.";
    ONE_DEVICE = "E0744", "Several policies are to be exported for one network device.";
    NOTHING = "E0745", "No interface has an output policy to export.";
    NO_CHOICE = "E0746", "A policy or variant to be exported does not exist, or it is not said which.";
    BAD_RATE = "E0747", "The rate that is given for an export is none.";
    NO_BANDS = "E0748", "A policy that strict priorities and shares alone cannot express.";
    NO_OPTION = "E0749", "A scheduler or classifier that commands are not written for.";
}
