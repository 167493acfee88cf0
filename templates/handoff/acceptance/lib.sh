# shellcheck shell=bash
# Functions that the stages share.
# shellcheck source=/dev/null
. ./settings.sh
# shellcheck source=/dev/null
. ./bundle.sh

stop() {
    echo "acceptance: $*" >&2
    exit 1
}

# The upper limits keep a mistake in a setting from loading the fabric for hours.
check_limits() {
    limit DURATION_S "$DURATION_S" 1 60
    limit PARALLEL "$PARALLEL" 1 256
    limit START_S "$START_S" 0 30
    limit MESSAGE_BYTES "$MESSAGE_BYTES" 4096 8388608
    limit NCCL_LEAST_BYTES "$NCCL_LEAST_BYTES" 1024 17179869184
    limit NCCL_MOST_BYTES "$NCCL_MOST_BYTES" "$NCCL_LEAST_BYTES" 17179869184
    limit NCCL_ITERATIONS "$NCCL_ITERATIONS" 1 200
}

limit() {
    [[ $2 =~ ^[0-9]+$ ]] && [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || stop "$1 is $2, expected $3 to $4"
}

# on HOST COMMAND: run a command line on a host, without reading the input of the script.
on() {
    if [ "$LAUNCHER" = srun ]; then
        srun --overlap --nodes=1 --ntasks=1 --nodelist="$1" bash -c "$2" < /dev/null
    else
        # shellcheck disable=SC2086
        $SSH "$1" "$2" < /dev/null
    fi
}

# on_switch SWITCH COMMAND
on_switch() {
    # shellcheck disable=SC2086
    $SSH "$SWITCH_USER@$(address_of "$1")" "$2" < /dev/null
}

address_of() {
    awk -v name="$1" '$1 == name { print $2 }' lists/switches.txt
}

# save FILE COMMAND...: the output of a command, only if it succeeds.
save() {
    mkdir -p "$(dirname "$1")"
    if "${@:2}" > "$1.part"; then
        mv "$1.part" "$1"
    else
        rm -f "$1.part"
        echo "acceptance: no result $1" >&2
    fi
}

# A command that sets d to the RDMA device of a NIC: by the interface, otherwise by the name in the bundle.
device() {
    echo "d=\$(ls /sys/class/net/$1/device/infiniband 2>/dev/null | head -n 1); d=\${d:-$2};"
}

# perftest ID HOST_A NIC_A RDMA_A HOST_B NIC_B RDMA_B CLASS PORT SECONDS: A writes to B.
perftest() {
    local file=/tmp/fabricgen-acceptance-$9.json
    local options="--report_gbits -q $QUEUE_PAIRS -s $MESSAGE_BYTES -D ${10} -F $8 -p $9"
    local bound=$((${10} + START_S + 20))
    on "$5" "$(device "$6" "$7") timeout $bound ib_write_bw -d \$d $options" > /dev/null &
    local server=$!
    sleep "$START_S"
    save "$RESULTS/$1.json" on "$2" "$(device "$3" "$4") timeout $bound ib_write_bw -d \$d $options \
--out_json_file=$file $5 > /dev/null && cat $file && rm -f $file"
    wait "$server" || true
}

# Wait while as many commands run in the background as may run at the same time.
throttle() {
    while [ "$(jobs -rp | wc -l)" -ge "$PARALLEL" ]; do
        wait -n || true
    done
}

# pairs STAGE: the pairs of a stage, round by round.
pairs() {
    local number rounds
    rounds=$(awk '{ print $1 }' "lists/$1.txt" | sort -nu)
    for number in $rounds; do
        local port=18515
        while read -r _ id rest; do
            # shellcheck disable=SC2086
            perftest "$id" $rest "$port" "$DURATION_S" &
            port=$((port + 1))
            [ "$1" = bisection ] || throttle
        done < <(awk -v round="$number" '$1 == round' "lists/$1.txt")
        wait
    done
}

# collective ID PROGRAM TASKS DEVICE GPU HOSTS: one run of nccl-tests. DEVICE and GPU are - for all of a host.
collective() {
    local -a environment=(NCCL_MNNVL_ENABLE=0)
    # With rings, the bus bandwidth is that of the NICs; NVLink SHARP would add its own.
    case $2 in
    all_reduce | all_gather | reduce_scatter) environment+=(NCCL_ALGO=RING) ;;
    esac
    if [ "$4" != - ]; then
        environment+=(NCCL_IB_HCA="=$4" CUDA_VISIBLE_DEVICES="$5" HIP_VISIBLE_DEVICES="$5")
    fi
    local -a command=("$NCCL_TESTS/$2_perf" -b "$NCCL_LEAST_BYTES" -e "$NCCL_MOST_BYTES" -f 2 -g 1 -n "$NCCL_ITERATIONS")
    local hosts=$6 count
    count=$(tr ',' '\n' <<< "$hosts" | wc -l)
    if [ "$LAUNCHER" = srun ]; then
        save "$RESULTS/$1.txt" env "${environment[@]}" srun --overlap --export=ALL --nodes="$count" \
            --ntasks-per-node="$3" --nodelist="$hosts" "${command[@]}"
    else
        tr ',' '\n' <<< "$hosts" | sed "s/\$/ slots=$3/" > "$RESULTS/hostfile"
        local -a exported=()
        local one
        for one in "${environment[@]}"; do exported+=(-x "$one"); done
        save "$RESULTS/$1.txt" "$MPIRUN" --hostfile "$RESULTS/hostfile" -np $((count * $3)) "${exported[@]}" \
            "${command[@]}"
    fi
}

# collect before|after: the counters of every switch, and of the NICs of every host.
collect() {
    local name nics
    while read -r name _; do
        counters "$name" "$RESULTS/counters/$1/$name" &
        throttle
    done < lists/switches.txt
    while read -r name nics; do
        nic_counters "$name" "$nics" "$RESULTS/counters/$1/$name" &
        throttle
    done < lists/hosts.txt
    wait
}

# nic_counters HOST NIC:RDMA... FOLDER
nic_counters() {
    local one
    for one in $2; do
        save "$3/ethtool-${one%:*}.txt" on "$1" "ethtool -S ${one%:*}"
    done
}

# counters SWITCH FOLDER. A release without one of the commands has no such file.
counters() {
    save "$2/pfc.txt" on_switch "$1" "show pfc counters"
    save "$2/watchdog.txt" on_switch "$1" "sudo pfcwd show stats"
    save "$2/pg-headroom.json" on_switch "$1" "show priority-group watermark headroom -j"
    save "$2/pg-shared.json" on_switch "$1" "show priority-group watermark shared -j"
    save "$2/queue.json" on_switch "$1" "show queue watermark unicast -j"
    save "$2/pg-drops.txt" on_switch "$1" "show priority-group drop counters"
    save "$2/queue-counters.json" on_switch "$1" "show queue counters --json"
    save "$2/ecn.json" on_switch "$1" "show queue wredcounters --json"
    save "$2/errors.txt" on_switch "$1" "show interfaces counters errors"
    save "$2/fec.txt" on_switch "$1" "show interfaces counters fec-stats"
}

# refuse_traffic STAGE...: stop if hosts send, because every stage but lldp fills links.
refuse_traffic() {
    [ "$*" != lldp ] || return 0
    local host nics found
    rm -f "$RESULTS/traffic"
    while read -r host nics; do
        traffic "$host" "$nics" >> "$RESULTS/traffic" &
        throttle
    done < lists/hosts.txt
    wait
    found=$(awk -v most="$IDLE_MBPS" '$2 == "" || $2 + 0 > most' "$RESULTS/traffic" | head -n 5)
    rm -f "$RESULTS/traffic"
    [ -z "$found" ] || stop "hosts send (Mb/s), or cannot be read: ${found//$'\n'/, }. \
The fabric is in service: stop the jobs, or add --in-service"
}

# traffic HOST NIC:RDMA...: the host, and what its NICs send together in Mb/s; nothing if it cannot be read.
traffic() {
    local one remote="f=;"
    for one in $2; do
        remote+="$(device "${one%:*}" "${one#*:}") f=\"\$f /sys/class/infiniband/\$d/ports/1/counters/port_xmit_data\";"
    done
    remote+="cat \$f > /dev/null || exit 1; sum() { cat \$f | awk '{ s += \$1 } END { printf \"%.0f\", s }'; };"
    echo "$1 $(on "$1" "set -e; $remote a=\$(sum); sleep 1; b=\$(sum); echo \$(((b - a) * 32 / 1000000))" || true)"
}
