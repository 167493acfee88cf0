# shellcheck shell=bash
# A link of the leaf goes down during a test between two NICs, and comes back in any case.
while read -r _ _ id host_a nic_a rdma_a host_b nic_b rdma_b class switch port seconds; do
    perftest "$id" "$host_a" "$nic_a" "$rdma_a" "$host_b" "$nic_b" "$rdma_b" "$class" 18515 "$seconds" &
    running=$!
    sleep $((START_S + seconds / 3))
    on_switch "$switch" "sudo systemd-run --on-active=60 config interface startup $port"
    on_switch "$switch" "sudo config interface shutdown $port"
    sleep $((seconds / 3))
    on_switch "$switch" "sudo config interface startup $port"
    wait "$running"
done < lists/failover.txt
