// The dumbbells of bench/cases in htsim: `htsim CASE SECONDS WATCH SEED`; prints one JSON object.
//
// Links are a queue and a pipe in each direction; nothing logs. htsim's queues hold bytes, its sender begins with ten
// segments and a slow-start threshold of a hundred, and its timers are looked at every 10 ms.

#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

namespace {

constexpr int kSegment = 1040;  // B on the wire

struct Shape {
    int flows;
    double bottleneck_mbps;
    int limit;  // packets
};

double CpuSeconds() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& t) { return t.tv_sec + t.tv_usec * 1e-6; };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// getrusage would say what the process was before it became this program.
long PeakKb() {
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word) {
        if (word == "VmHWM:") {
            long kb = 0;
            status >> kb;
            return kb;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: htsim CASE SECONDS WATCH SEED\n";
        return 2;
    }
    const std::string name = argv[1];
    const double seconds = std::atof(argv[2]);
    const bool watch = std::atoi(argv[3]) != 0;
    std::mt19937_64 random(std::atoi(argv[4]));
    Shape shape;
    if (name == "d50") {
        shape = {50, 100, 300};
    } else if (name == "d1k") {
        shape = {1000, 1000, 3000};
    } else {
        std::cerr << "no case " << name << "\n";
        return 2;
    }

    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(seconds));
    Packet::set_packet_size(kSegment);
    const auto queue = [&](double mbps, int packets) {
        return new Queue(speedFromMbps(mbps), static_cast<mem_b>(packets) * kSegment, events, nullptr);
    };
    const auto pipe = [&](double ms) { return new Pipe(timeFromMs(ms), events); };
    const int endless = 1000000;  // packets
    Queue* there = queue(shape.bottleneck_mbps, shape.limit);
    Queue* back = queue(shape.bottleneck_mbps, shape.limit);
    Pipe* there_pipe = pipe(10);
    Pipe* back_pipe = pipe(10);
    TcpRtxTimerScanner timers(timeFromMs(10), events);
    std::uniform_real_distribution<double> start(0, 1);
    std::vector<TcpSink*> sinks;
    std::vector<TcpSrc*> sources;
    for (int i = 0; i < shape.flows; ++i) {
        const double access_ms = 1 + i % 10;
        const std::vector<PacketSink*> forward = {
            queue(1000, endless), pipe(access_ms), there, there_pipe, queue(1000, endless), pipe(1)};
        const std::vector<PacketSink*> reverse = {
            queue(1000, endless), pipe(1), back, back_pipe, queue(1000, endless), pipe(access_ms)};
        auto* source = new TcpSrc(nullptr, nullptr, events);
        auto* sink = new TcpSink();
        auto* out = new Route();
        auto* in = new Route();
        for (PacketSink* hop : forward) out->push_back(hop);
        for (PacketSink* hop : reverse) in->push_back(hop);
        out->push_back(sink);
        in->push_back(source);
        source->connect(*out, *in, *sink, timeFromSec(start(random)));
        timers.registerTcp(*source);
        sources.push_back(source);
        sinks.push_back(sink);
    }

    const double begin = CpuSeconds();
    while (events.doNextEvent()) {
    }
    const double run_s = CpuSeconds() - begin;

    std::uint64_t delivered = 0;
    std::uint64_t sent = 0;
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < sinks.size(); ++i) {
        const double got = sinks[i]->_cumulative_ack / kSegment;
        delivered += static_cast<std::uint64_t>(got);
        sent += sources[i]->_packets_sent / kSegment;
        sum += got;
        squares += got * got;
    }
    std::cout << "\n{\"delivered\": " << delivered << ", \"run_s\": " << run_s << ", \"peak_kb\": " << PeakKb();
    if (watch) {
        // htsim's own queue counts no mean and no retransmissions.
        std::cout << ", \"arrivals\": " << sent << ", \"drops\": " << there->num_drops()
                  << ", \"jain\": " << (squares > 0 ? sum * sum / (sinks.size() * squares) : 0);
    }
    std::cout << "}" << std::endl;
    return 0;
}
