# shellcheck shell=bash
# A host pauses its switch port for longer than the detection time: the watchdog acts, and restores the queue.
while read -r _ host nic switch detection_ms priority; do
    save "$RESULTS/watchdog/before/$switch/watchdog.txt" on_switch "$switch" "sudo pfcwd show stats"
    # shellcheck disable=SC2086
    $SSH "$host" "sudo timeout 30 python3 - $nic $priority $((detection_ms * 4))" < pfc_storm.py
    sleep 5
    save "$RESULTS/watchdog/after/$switch/watchdog.txt" on_switch "$switch" "sudo pfcwd show stats"
done < lists/watchdog.txt
