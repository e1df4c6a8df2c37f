// The benchmark scenarios for ns-3 (3.37 to 3.48).
//
//   ns3 --case=CASE --seconds=S [--measure=1] [--seed=N]
//
// CASE is d50, d50-red, d1k, d10k, w, f-fq-codel, or poisson with a queue of your choice:
//
//   ns3 --case=poisson --queue=KIND --flows=N --load=L --heavy=SHARE ...
//
// through 10 Mb/s, of whose load the first flow sends SHARE. Without --measure nothing watches the
// bottleneck, which is how the run is timed; with it its queue is integrated at
// every change. One line of JSON goes to standard output; what was not watched
// is null.
#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

// PPP adds 2 bytes on the wire; rates are raised so that a full packet takes
// exactly as long as it does in the other simulators.
constexpr uint32_t kPpp = 2;
constexpr uint32_t kUdpIp = 28;
constexpr uint32_t kTcpIp = 40;
constexpr uint32_t kData = 1000;

uint64_t WireRate(double bits_per_s, uint32_t packet)
{
    return static_cast<uint64_t>(bits_per_s * (packet + kPpp) / packet + 0.5);
}

// Packets of a fixed length at exponential distances.
class PoissonSource : public Application
{
  public:
    void Setup(Address to, double mean_gap, uint32_t payload)
    {
        m_to = to;
        m_payload = payload;
        m_gap = CreateObject<ExponentialRandomVariable>();
        m_gap->SetAttribute("Mean", DoubleValue(mean_gap));
    }

  private:
    void StartApplication() override
    {
        m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
        m_socket->Bind();
        m_socket->Connect(m_to);
        m_socket->ShutdownRecv();
        Next();
    }

    void StopApplication() override
    {
        Simulator::Cancel(m_event);
    }

    void Next()
    {
        m_event = Simulator::Schedule(Seconds(m_gap->GetValue()), &PoissonSource::Send, this);
    }

    void Send()
    {
        m_socket->Send(Create<Packet>(m_payload));
        Next();
    }

    Address m_to;
    uint32_t m_payload = 0;
    Ptr<ExponentialRandomVariable> m_gap;
    Ptr<Socket> m_socket;
    EventId m_event;
};

// Time integral of the number of packets in queues.
struct Watch
{
    double sum = 0;
    double last = 0;
    uint32_t now_in = 0;

    void Advance()
    {
        const double t = Simulator::Now().GetSeconds();
        sum += now_in * (t - last);
        last = t;
    }

    void Changed(uint32_t was, uint32_t is)
    {
        Advance();
        now_in += is - was;
    }
};

// What the nodes of a dumbbell need to know of routing. The protocols of ns-3 look
// through lists as long as the number of hosts, or search the network for every
// flow, which at 1,000 flows takes longer than the simulation.
//
// Subnet 0 is the bottleneck's, 1 + 2 i that of sender i and 2 + 2 i that of
// receiver i; a router's interface 0 is the loopback, 1 the bottleneck, 2 + i the
// host's.
class DumbbellRouting : public Ipv4RoutingProtocol
{
  public:
    enum Role
    {
        HOST,
        LEFT,
        RIGHT
    };

    static uint32_t Subnet(Ipv4Address address)
    {
        return (address.Get() - Ipv4Address("10.0.0.0").Get()) / 4;
    }

    // When all interfaces have their addresses.
    void Finish(Role role)
    {
        m_role = role;
        m_routes.resize(m_ipv4->GetNInterfaces());
        for (uint32_t i = 1; i < m_routes.size(); ++i)
        {
            const Ipv4Address own = m_ipv4->GetAddress(i, 0).GetLocal();
            m_routes[i] = Create<Ipv4Route>();
            m_routes[i]->SetSource(own);
            // The other end of a /30: of 1 and 2 the other.
            m_routes[i]->SetGateway(Ipv4Address(own.Get() ^ 3));
            m_routes[i]->SetOutputDevice(m_ipv4->GetNetDevice(i));
        }
    }

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet>, const Ipv4Header& header, Ptr<NetDevice>,
                               Socket::SocketErrno& error) override
    {
        error = Socket::ERROR_NOTERROR;
        return Towards(header.GetDestination());
    }

    // The callbacks come by value up to 3.37 and by reference later; one of these overrides.
    bool RouteInput(Ptr<const Packet> p, const Ipv4Header& header, Ptr<const NetDevice> device,
                    UnicastForwardCallback forward, MulticastForwardCallback,
                    LocalDeliverCallback deliver, ErrorCallback)
    {
        return Input(p, header, device, forward, deliver);
    }

    bool RouteInput(Ptr<const Packet> p, const Ipv4Header& header, Ptr<const NetDevice> device,
                    const UnicastForwardCallback& forward, const MulticastForwardCallback&,
                    const LocalDeliverCallback& deliver, const ErrorCallback&)
    {
        return Input(p, header, device, forward, deliver);
    }

    void NotifyInterfaceUp(uint32_t) override
    {
    }

    void NotifyInterfaceDown(uint32_t) override
    {
    }

    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void SetIpv4(Ptr<Ipv4> ipv4) override
    {
        m_ipv4 = ipv4;
    }

    void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override
    {
    }

  private:
    Ptr<Ipv4Route> Towards(Ipv4Address to) const
    {
        const uint32_t subnet = Subnet(to);
        const bool here = subnet > 0 && ((m_role == LEFT && subnet % 2 == 1) ||
                                         (m_role == RIGHT && subnet % 2 == 0));
        return m_routes[here ? 2 + (subnet - 1) / 2 : 1];
    }

    bool Input(Ptr<const Packet> p, const Ipv4Header& header, Ptr<const NetDevice> device,
               const UnicastForwardCallback& forward, const LocalDeliverCallback& deliver)
    {
        if (m_role == HOST)
        {
            deliver(p, header, m_ipv4->GetInterfaceForDevice(device));
        }
        else
        {
            forward(Towards(header.GetDestination()), p, header);
        }
        return true;
    }

    Role m_role = HOST;
    Ptr<Ipv4> m_ipv4;
    std::vector<Ptr<Ipv4Route>> m_routes;
};

class DumbbellRoutingHelper : public Ipv4RoutingHelper
{
  public:
    DumbbellRoutingHelper* Copy() const override
    {
        return new DumbbellRoutingHelper(*this);
    }

    Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override
    {
        return CreateObject<DumbbellRouting>();
    }

    static void Finish(Ptr<Node> node, DumbbellRouting::Role role)
    {
        auto routing = node->GetObject<Ipv4>()->GetRoutingProtocol();
        DynamicCast<DumbbellRouting>(routing)->Finish(role);
    }
};

struct Bottleneck
{
    NetDeviceContainer devices;
    Ptr<QueueDisc> disc;
};

struct Case
{
    std::string name;
    double seconds = 5;
    bool measure = false;
    // Of `poisson`.
    bool device = false;
    std::string queue = "fifo";
    uint32_t flows = 10;
    double load = 1.2;
    double heavy = 0;
    bool derandomize = false;
};

// What the queue disciplines that are compared have in common, whatever the version's defaults.
void SetDelays(bool derandomize)
{
    for (const char* kind : {"CoDel", "FqCoDel", "Cobalt", "FqCobalt"})
    {
        const std::string name = std::string("ns3::") + kind + "QueueDisc::";
        Config::SetDefault(name + "Target", StringValue("5ms"));
        Config::SetDefault(name + "Interval", StringValue("100ms"));
    }
    for (const char* kind : {"Pie", "FqPie"})
    {
        const std::string name = std::string("ns3::") + kind + "QueueDisc::";
        Config::SetDefault(name + "MeanPktSize", UintegerValue(kData));
        Config::SetDefault(name + "QueueDelayReference", TimeValue(MilliSeconds(15)));
        Config::SetDefault(name + "Tupdate", TimeValue(MilliSeconds(15)));
        Config::SetDefault(name + "MaxBurstAllowance", TimeValue(MilliSeconds(150)));
        Config::SetDefault(name + "A", DoubleValue(0.125));
        Config::SetDefault(name + "B", DoubleValue(1.25));
        Config::SetDefault(name + "UseDerandomization", BooleanValue(derandomize));
    }
}

// The link with the queue under test. Its device holds one packet, the least it
// can, besides the one it sends; the discipline cannot see either of them.
Bottleneck MakeBottleneck(Ptr<Node> left, Ptr<Node> right, double rate, uint32_t packet,
                          uint32_t limit, const std::string& kind)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(WireRate(rate, packet))));
    link.SetChannelAttribute("Delay", TimeValue(MilliSeconds(10)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    Bottleneck b;
    b.devices = link.Install(left, right);

    TrafficControlHelper tc;
    const QueueSizeValue size(QueueSize(QueueSizeUnit::PACKETS, limit));
    if (kind == "red")
    {
        tc.SetRootQueueDisc("ns3::RedQueueDisc",
                            "MinTh", DoubleValue(25), "MaxTh", DoubleValue(75),
                            "QW", DoubleValue(0.002), "LInterm", DoubleValue(10),
                            "Gentle", BooleanValue(true), "Wait", BooleanValue(false),
                            "MeanPktSize", UintegerValue(packet), "MaxSize", size,
                            "LinkBandwidth", DataRateValue(DataRate(static_cast<uint64_t>(rate))),
                            "LinkDelay", TimeValue(MilliSeconds(10)));
    }
    else if (kind == "fq-codel" || kind == "fq-pie" || kind == "fq-cobalt")
    {
        const std::string type = kind == "fq-pie" ? "Pie" : kind == "fq-codel" ? "CoDel" : "Cobalt";
        tc.SetRootQueueDisc("ns3::Fq" + type + "QueueDisc", "MaxSize", size, "Flows", UintegerValue(1024));
    }
    else if (kind == "codel" || kind == "pie" || kind == "cobalt")
    {
        const std::string type = kind == "pie" ? "Pie" : kind == "codel" ? "CoDel" : "Cobalt";
        tc.SetRootQueueDisc("ns3::" + type + "QueueDisc", "MaxSize", size);
    }
    else
    {
        tc.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", size);
    }
    b.disc = tc.Install(b.devices.Get(0)).Get(0);
    // The way back carries acknowledgments only and loses none.
    TrafficControlHelper back;
    back.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100000p"));
    back.Install(b.devices.Get(1));
    return b;
}

// The largest resident memory so far in KiB, null where the system does not say.
std::string PeakKb()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    while (status >> word)
    {
        if (word == "VmHWM:" && status >> word)
        {
            return word;
        }
    }
    return "null";
}

void RunAndReport(const Case& c, const Bottleneck& b, double rate, uint32_t packet,
                  const std::vector<Ptr<PacketSink>>& sinks, uint32_t payload)
{
    Watch watch;
    if (c.measure)
    {
        b.disc->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Watch::Changed, &watch));
        if (c.device)
        {
            auto device = DynamicCast<PointToPointNetDevice>(b.devices.Get(0));
            device->GetQueue()->TraceConnectWithoutContext("PacketsInQueue", MakeCallback(&Watch::Changed, &watch));
        }
    }
    Simulator::Stop(Seconds(c.seconds));
    const std::clock_t begin = std::clock();
    Simulator::Run();
    const double run_s = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;

    uint64_t bytes = 0;
    double squares = 0;
    for (const auto& sink : sinks)
    {
        const double got = static_cast<double>(sink->GetTotalRx());
        bytes += sink->GetTotalRx();
        squares += got * got;
    }
    const double sum = static_cast<double>(bytes);
    std::cout << "{\"peer\": \"ns-3\", \"case\": \"" << c.name << "\", \"delivered\": " << bytes / payload;
    if (c.measure)
    {
        watch.Advance();
        const auto& s = b.disc->GetStats();
        const double sent = static_cast<double>(s.nTotalSentPackets) * packet * 8;
        std::cout << ", \"arrivals\": " << s.nTotalReceivedPackets
                  << ", \"drops\": " << s.nTotalDroppedPackets
                  << ", \"utilization\": " << sent / (rate * c.seconds)
                  << ", \"mean_queue\": " << watch.sum / c.seconds
                  << ", \"first\": " << sinks[0]->GetTotalRx() / payload
                  << ", \"jain\": " << (squares > 0 ? sum * sum / (sinks.size() * squares) : 0);
    }
    else
    {
        std::cout << ", \"arrivals\": null, \"drops\": null, \"utilization\": null, \"mean_queue\": null, \"jain\": null";
    }
    std::cout << ", \"retransmits\": null, \"timeouts\": null, \"run_s\": " << run_s
              << ", \"seconds\": " << c.seconds << ", \"peak_kb\": " << PeakKb() << "}" << std::endl;
    Simulator::Destroy();
}

void Dumbbell(const Case& c, uint32_t flows, double rate, uint32_t limit, const std::string& kind)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kData));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    // A buffer is filled at once and takes memory; this one never limits the window.
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    const uint32_t packet = kData + kTcpIp;
    NodeContainer routers;
    routers.Create(2);
    NodeContainer hosts;
    hosts.Create(2 * flows);
    InternetStackHelper stack;
    stack.SetRoutingHelper(DumbbellRoutingHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(routers);
    stack.Install(hosts);

    Bottleneck b = MakeBottleneck(routers.Get(0), routers.Get(1), rate, packet, limit, kind);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.252");
    address.Assign(b.devices);

    std::vector<Ptr<PacketSink>> sinks;
    auto random = CreateObject<UniformRandomVariable>();
    PointToPointHelper access;
    access.SetDeviceAttribute("DataRate", DataRateValue(DataRate(WireRate(1e9, packet))));
    access.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("100000p"));
    for (uint32_t i = 0; i < flows; ++i)
    {
        access.SetChannelAttribute("Delay", TimeValue(MilliSeconds(1 + i % 10)));
        NetDeviceContainer in = access.Install(hosts.Get(i), routers.Get(0));
        access.SetChannelAttribute("Delay", TimeValue(MilliSeconds(1)));
        NetDeviceContainer out = access.Install(routers.Get(1), hosts.Get(flows + i));
        // No queue discipline, so that the device's queue is the only one there.
        address.NewNetwork();
        address.Assign(in);
        address.NewNetwork();
        const Ipv4Address to = address.Assign(out).GetAddress(1);
        TrafficControlHelper none;
        none.Uninstall(in);
        none.Uninstall(out);

        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, 9));
        // Few large writes: each is an object in the buffer.
        bulk.SetAttribute("SendSize", UintegerValue(1 << 16));
        bulk.Install(hosts.Get(i)).Start(Seconds(random->GetValue(0, 1)));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(hosts.Get(flows + i)).Get(0)));
        DumbbellRoutingHelper::Finish(hosts.Get(i), DumbbellRouting::HOST);
        DumbbellRoutingHelper::Finish(hosts.Get(flows + i), DumbbellRouting::HOST);
    }
    DumbbellRoutingHelper::Finish(routers.Get(0), DumbbellRouting::LEFT);
    DumbbellRoutingHelper::Finish(routers.Get(1), DumbbellRouting::RIGHT);
    RunAndReport(c, b, rate, packet, sinks, kData);
}

void Poisson(const Case& c, uint32_t flows, double rate, double load, uint32_t limit, const std::string& kind)
{
    const uint32_t packet = 1000;
    NodeContainer nodes;
    nodes.Create(2);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Bottleneck b = MakeBottleneck(nodes.Get(0), nodes.Get(1), rate, packet, limit, kind);
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.252");
    const Ipv4Address to = address.Assign(b.devices).GetAddress(1);

    std::vector<Ptr<PacketSink>> sinks;
    const double gap = packet * 8.0 / (load * rate);
    for (uint32_t i = 0; i < flows; ++i)
    {
        const double rest = c.heavy > 0 ? (1 - c.heavy) / (flows - 1) : 1.0 / flows;
        const InetSocketAddress there(to, static_cast<uint16_t>(1024 + i));
        auto source = CreateObject<PoissonSource>();
        source->Setup(there, gap / (i == 0 && c.heavy > 0 ? c.heavy : rest), packet - kUdpIp);
        source->SetStartTime(Seconds(0));
        nodes.Get(0)->AddApplication(source);
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), there.GetPort()));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(1)).Get(0)));
    }
    RunAndReport(c, b, rate, packet, sinks, packet - kUdpIp);
}

} // namespace

int main(int argc, char* argv[])
{
    Case c;
    uint32_t seed = 1;
    CommandLine cmd;
    cmd.AddValue("case", "d50, d50-red, d1k, d10k, w, f-fq-codel or poisson", c.name);
    cmd.AddValue("queue", "codel, pie, cobalt, fq-codel, fq-pie or fq-cobalt", c.queue);
    cmd.AddValue("flows", "how many send", c.flows);
    cmd.AddValue("load", "of the line", c.load);
    cmd.AddValue("heavy", "share of the load that the first flow sends", c.heavy);
    cmd.AddValue("derandomize", "gaps between PIE's drops are alike (RFC 8033 5.4)", c.derandomize);
    cmd.AddValue("seconds", "simulated seconds", c.seconds);
    cmd.AddValue("measure", "watch the bottleneck's queue", c.measure);
    cmd.AddValue("seed", "number of the run", seed);
    cmd.Parse(argc, argv);
    RngSeedManager::SetRun(seed);

    if (c.name == "d50")
        Dumbbell(c, 50, 100e6, 300, "fifo");
    else if (c.name == "d50-red")
        Dumbbell(c, 50, 100e6, 300, "red");
    else if (c.name == "d1k")
        Dumbbell(c, 1000, 1e9, 3000, "fifo");
    else if (c.name == "d10k")
        Dumbbell(c, 10000, 10e9, 30000, "fifo");
    else if (c.name == "w")
        Poisson(c, 100, 100e6, 0.98, 300, "red");
    else if (c.name == "f-fq-codel")
        Poisson(c, 1000, 1e9, 1.2, 3000, "fq-codel");
    else if (c.name == "poisson")
    {
        SetDelays(c.derandomize);
        c.device = true;
        Poisson(c, c.flows, 10e6, c.load, 1000, c.queue);
    }
    else
    {
        std::cerr << "no case '" << c.name << "'; there are d50, d50-red, d1k, d10k, w, f-fq-codel and poisson\n";
        return 2;
    }
    return 0;
}
