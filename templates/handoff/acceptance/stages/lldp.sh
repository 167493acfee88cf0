# shellcheck shell=bash
# The neighbours of each switch: cables as planned.
while read -r name _; do
    save "$RESULTS/lldp/$name.json" on_switch "$name" "sudo docker exec lldp lldpctl -f json0" &
    throttle
done < lists/switches.txt
wait
