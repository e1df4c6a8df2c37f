//! Sets of ports as bits, and who requests whom.

/// The most ports of a switch.
pub const MAX_PORTS: usize = 256;

const WORDS: usize = MAX_PORTS / 64;

/// A set of ports. Every operation takes a few instructions, whatever its members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortSet([u64; WORDS]);

impl PortSet {
    /// No port.
    pub const EMPTY: Self = Self([0; WORDS]);

    /// The ports below `n`.
    pub fn first_ports(n: usize) -> Self {
        let mut set = Self::EMPTY;
        (0..n.min(MAX_PORTS)).for_each(|port| set.insert(port));
        set
    }

    /// Adds a port.
    #[inline]
    pub fn insert(&mut self, port: usize) {
        self.0[port / 64] |= 1 << (port % 64);
    }

    /// Removes a port.
    #[inline]
    pub fn remove(&mut self, port: usize) {
        self.0[port / 64] &= !(1 << (port % 64));
    }

    /// Whether the port is in the set.
    #[inline]
    pub fn contains(&self, port: usize) -> bool {
        self.0[port / 64] & (1 << (port % 64)) != 0
    }

    /// Whether the set has no port.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// The number of ports.
    #[inline]
    pub fn len(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }

    /// The ports that are in both sets.
    #[inline]
    pub fn and(&self, other: &Self) -> Self {
        let mut both = *self;
        for (word, of_other) in both.0.iter_mut().zip(other.0) {
            *word &= of_other;
        }
        both
    }

    /// The ports of this set that are not in the other.
    #[inline]
    pub fn without(&self, other: &Self) -> Self {
        let mut rest = *self;
        for (word, of_other) in rest.0.iter_mut().zip(other.0) {
            *word &= !of_other;
        }
        rest
    }

    /// The first port at or after `start` in cyclic order.
    #[inline]
    pub fn first_from(&self, start: usize) -> Option<usize> {
        let at = start / 64;
        let above = self.0[at] & (u64::MAX << (start % 64));
        if above != 0 {
            return Some(at * 64 + above.trailing_zeros() as usize);
        }
        let after = (at + 1..WORDS).find(|w| self.0[*w] != 0);
        let word = after.or_else(|| (0..=at).find(|w| self.0[*w] != 0))?;
        Some(word * 64 + self.0[word].trailing_zeros() as usize)
    }

    /// The port that has `k` others of the set below it.
    pub fn nth(&self, mut k: u32) -> Option<usize> {
        for (i, mut word) in self.0.into_iter().enumerate() {
            let ones = word.count_ones();
            if k < ones {
                for _ in 0..k {
                    word &= word - 1;
                }
                return Some(i * 64 + word.trailing_zeros() as usize);
            }
            k -= ones;
        }
        None
    }

    /// The ports, ascending.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + use<> {
        let words = self.0;
        let ones = |(i, mut word): (usize, u64)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(i * 64 + bit)
            })
        };
        words.into_iter().enumerate().flat_map(ones)
    }
}

/// The requests of inputs for outputs, and the ports that are free.
#[derive(Clone, Debug)]
pub struct Requests {
    ports: usize,
    /// By input: the outputs that it has cells for.
    rows: Vec<PortSet>,
    /// By output: the inputs that have cells for it.
    columns: Vec<PortSet>,
    free_inputs: PortSet,
    free_outputs: PortSet,
}

impl Requests {
    /// No requests among `ports` inputs and as many outputs, at most [`MAX_PORTS`]; all are free.
    pub fn new(ports: usize) -> Self {
        let ports = ports.min(MAX_PORTS);
        Self {
            ports,
            rows: vec![PortSet::EMPTY; ports],
            columns: vec![PortSet::EMPTY; ports],
            free_inputs: PortSet::first_ports(ports),
            free_outputs: PortSet::first_ports(ports),
        }
    }

    /// The number of inputs, and of outputs.
    pub fn ports(&self) -> usize {
        self.ports
    }

    /// The input has a cell for the output.
    #[inline]
    pub fn set(&mut self, input: usize, output: usize) {
        self.rows[input].insert(output);
        self.columns[output].insert(input);
    }

    /// The input has no cell for the output.
    #[inline]
    pub fn clear(&mut self, input: usize, output: usize) {
        self.rows[input].remove(output);
        self.columns[output].remove(input);
    }

    /// Whether the input has a cell for the output.
    pub fn has(&self, input: usize, output: usize) -> bool {
        self.rows[input].contains(output)
    }

    /// Marks two ports as busy, since they carry a packet.
    pub fn occupy(&mut self, input: usize, output: usize) {
        self.free_inputs.remove(input);
        self.free_outputs.remove(output);
    }

    /// The two may be matched again.
    pub fn release(&mut self, input: usize, output: usize) {
        self.free_inputs.insert(input);
        self.free_outputs.insert(output);
    }

    /// The inputs that may be matched.
    #[inline]
    pub fn free_inputs(&self) -> PortSet {
        self.free_inputs
    }

    /// The outputs that may be matched.
    #[inline]
    pub fn free_outputs(&self) -> PortSet {
        self.free_outputs
    }

    /// The inputs, free or not, that have cells for the output.
    #[inline]
    pub fn inputs_for(&self, output: usize) -> &PortSet {
        &self.columns[output]
    }

    /// The outputs, free or not, for which the input has cells.
    #[inline]
    pub fn outputs_of(&self, input: usize) -> &PortSet {
        &self.rows[input]
    }

    /// The pairs that request and may be matched, by input, then output.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let of_input = |input: usize| {
            let outputs = self.rows[input].and(&self.free_outputs);
            outputs.iter().map(move |output| (input, output))
        };
        self.free_inputs.iter().flat_map(of_input)
    }
}

/// A matching: at most one output for each input and one input for each output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    pairs: Vec<(u16, u16)>,
    inputs: PortSet,
    outputs: PortSet,
}

impl Matching {
    /// Forgets all pairs.
    #[inline]
    pub fn clear(&mut self) {
        self.pairs.clear();
        (self.inputs, self.outputs) = (PortSet::EMPTY, PortSet::EMPTY);
    }

    /// Matches two ports.
    #[inline]
    pub fn add(&mut self, input: usize, output: usize) {
        debug_assert!(!self.inputs.contains(input) && !self.outputs.contains(output));
        self.pairs.push((input as u16, output as u16));
        self.inputs.insert(input);
        self.outputs.insert(output);
    }

    /// The pairs of input and output, in no particular order.
    #[inline]
    pub fn pairs(&self) -> &[(u16, u16)] {
        &self.pairs
    }

    /// The inputs of the pairs.
    #[inline]
    pub fn inputs(&self) -> &PortSet {
        &self.inputs
    }

    /// The outputs of the pairs.
    #[inline]
    pub fn outputs(&self) -> &PortSet {
        &self.outputs
    }

    /// Whether no requested pair of free ports could be added.
    pub fn is_maximal(&self, requests: &Requests) -> bool {
        let mut open = requests.pairs();
        open.all(|(i, o)| self.inputs.contains(i) || self.outputs.contains(o))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_walked_in_cyclic_order() {
        let mut set = PortSet::EMPTY;
        assert_eq!(set.first_from(200), None);
        for port in [3, 63, 64, 130, 255] {
            set.insert(port);
        }
        let next: Vec<_> = [0, 3, 4, 64, 65, 131, 255]
            .map(|p| set.first_from(p).unwrap())
            .into();
        assert_eq!(next, [3, 3, 63, 64, 130, 255, 255]);
        set.remove(255);
        assert_eq!(set.first_from(131), Some(3));
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 64, 130]);
        let nth: Vec<_> = (0..5).map(|k| set.nth(k)).collect();
        assert_eq!(nth, [Some(3), Some(63), Some(64), Some(130), None]);
        assert_eq!((set.len(), PortSet::first_ports(256).len()), (4, 256));
    }
}
