# Read by a copy of the suite's tests/test_helper.tcl, just before its last block. It changes only how
# failures are contained and written down when the suite runs against an external server; no test and no
# assertion is touched.
#
#  * An unexpected error reply, or a lost connection, inside a test ends that test only ("exc").
#  * A reply that never comes ends that test only ("hang").
#  * An error in the code between tests ends that one command ("blockexc"), not the rest of its block.
#  * A command that the harness itself sends (FUNCTION FLUSH, CONFIG GET *, CONFIG SET for a block's settings)
#    may fail: "setup", passed over.
#  * Each test writes one line: number, status, milliseconds, tags, name, message, parted by tabs.
#
# Settings, from the environment: OV_TSV and OV_PROGRESS (files), OV_TEST_MS and OV_READ_MS (limits),
# OV_FORCE (1: run what is tagged external:skip), OV_SKIPSEQ (numbers of tests to leave out).

set ::ov_tsv [open $::env(OV_TSV) a]
fconfigure $::ov_tsv -buffering line -encoding utf-8
set ::ov_progress [open $::env(OV_PROGRESS) a]
fconfigure $::ov_progress -buffering line -encoding utf-8
set ::ov_test_ms $::env(OV_TEST_MS)
set ::ov_read_ms $::env(OV_READ_MS)
set ::ov_force $::env(OV_FORCE)
set ::ov_deadline 0
set ::ov_hung 0
set ::ov_seq 0

proc ov_clean {s {max 400}} {
    set s [string map [list \\ \\\\ \t \\t \n \\n \r \\r] $s]
    regsub -all {[^\x20-\x7e]} $s ? s
    if {[string length $s] > $max} {set s "[string range $s 0 $max]..."}
    return $s
}
proc ov_emit {status ms tags name msg} {
    puts $::ov_tsv [join [list $::ov_seq $status $ms [ov_clean $tags 200] [ov_clean $name 300] [ov_clean $msg]] "\t"]
}

# Bounded waits in the Tcl client.
proc ::redis::ov_first {id fd} {
    if {!$::redis::blocking($id) || [chan pending input $fd] > 0} {
        return [redis_safe_read $fd 1]
    }
    set limit [expr {[clock milliseconds] + $::ov_read_ms}]
    if {$::ov_deadline && $::ov_deadline < $limit} {set limit $::ov_deadline}
    fconfigure $fd -blocking 0
    set n 0
    while 1 {
        if {[catch {read $fd 1} ch]} {
            catch {fconfigure $fd -blocking 1}
            if {[string match "*connection abort*" $ch]} {return {}}
            error $ch
        }
        if {$ch ne "" || [eof $fd]} break
        if {[incr n] > 300} {
            if {[clock milliseconds] > $limit} {
                set ::ov_hung 1
                catch {close $fd}
                set ::redis::fd($id) {}
                return -code error "OV-HANG no reply to '[string range [ov_lastcmd $id] 0 120]'"
            }
            after [expr {$n > 2000 ? 3 : 1}]
        }
    }
    catch {fconfigure $fd -blocking 1}
    return $ch
}
proc ov_lastcmd {id} {
    if {[info exists ::ov_argv($id)]} {return $::ov_argv($id)}
    return ?
}
foreach ov_p {redis_read_reply redis_read_reply_logic} {
    if {[info procs ::redis::$ov_p] ne ""} {
        set ov_b [info body ::redis::$ov_p]
        set ov_b [string map {{[redis_safe_read $fd 1]} {[ov_first $id $fd]} {[read $fd 1]} {[ov_first $id $fd]}} $ov_b]
        proc ::redis::$ov_p {id fd} $ov_b
    }
}
set ov_b [info body ::redis::__dispatch__]
proc ::redis::__dispatch__ {id method args} "
    if {\$::ov_deadline && \$method ne {close} && \[clock milliseconds\] > \$::ov_deadline} {
        set ::ov_hung 1
        return -code error {OV-HANG test deadline passed}
    }
    if {\$method ne {read}} {set ::ov_argv(\$id) \"\$method \[lrange \$args 0 5\]\"}
    $ov_b"

# Recovery after a failed test.
proc ov_stack_ids {} {
    set l {}
    foreach s $::servers {
        if {[dict exists $s client] && [regexp {(\d+)$} [dict get $s client] _ n]} {lappend l $n}
    }
    return $l
}
proc ov_close_since {mark} {
    set keep [ov_stack_ids]
    foreach id [array names ::redis::fd] {
        if {$id > $mark && [lsearch $keep $id] < 0} {
            catch {::redis::__method__close $id $::redis::fd($id)}
        }
    }
}
proc ov_recover {mark} {
    set save_dl $::ov_deadline; set save_rd $::ov_read_ms
    set ::ov_deadline 0; set ::ov_read_ms 2000
    ov_close_since $mark
    set fine 0
    for {set try 0} {$try < 4 && !$fine} {incr try} {
        set fine 1
        for {set l 0} {$l > -[llength $::servers]} {incr l -1} {
            set srv [lindex $::servers end+$l]
            # same handle, new socket: scripts may have kept the handle's name
            if {![dict exists $srv client] || ![regexp {(\d+)$} [dict get $srv client] _ id]} continue
            catch {close $::redis::fd($id)}
            if {[catch {set fd [socket [dict get $srv host] [dict get $srv port]]} e]} {set fine 0; after 300; break}
            fconfigure $fd -translation binary
            set ::redis::fd($id) $fd
            set ::redis::addr($id) [list [dict get $srv host] [dict get $srv port]]
            set ::redis::blocking($id) 1
            set ::redis::deferred($id) 0
            set ::redis::readraw($id) 0
            set ::redis::reconnect($id) 0
            set ::redis::tls($id) 0
            set ::redis::curr_argv($id) 0
            set ::redis::testing_resp3($id) 0
            ::redis::redis_reset_state $id
            interp alias {} ::redis::redisHandle$id {} ::redis::__dispatch__ $id
            set c [dict get $srv client]
            if {$::ov_force} {catch {$c replicaof no one}}
            if {[catch {$c ping} e] && [string match "OV-HANG*" $e]} {set fine 0; break}
            foreach fix {{client unpause} {script kill} {function kill} {debug set-active-expire 1}} {catch {$c {*}$fix}}
            if {!$::singledb && [catch {$c select 9} e] && [regexp {^(BUSY|LOADING|OV-|I/O|couldn|error )} $e]} {
                # busy or gone: one more round
                set fine 0; after 300; break
            }
        }
    }
    set ::ov_deadline $save_dl; set ::ov_read_ms $save_rd; set ::ov_hung 0
    if {!$fine} {
        ov_emit dead 0 $::tags $::cur_test "server gone or refusing after the last test: $e"
        catch {send_data_packet $::test_server_fd exception "OV-DEAD server gone: $e"}
        exit 3
    }
}

# Test.
proc test {name code {okpattern undefined} {tags {}}} {
    incr ::ov_seq
    set tags [concat $::tags $tags]
    if {[search_pattern_list $name $::skiptests]} {
        incr ::num_skipped
        ov_emit skip 0 $tags $name "skiptest"
        send_data_packet $::test_server_fd skip $name
        return
    }
    if {[llength $::only_tests] > 0 && ![search_pattern_list $name $::only_tests]} {
        incr ::num_skipped
        ov_emit skip 0 $tags $name "not in --only"
        send_data_packet $::test_server_fd skip $name
        return
    }
    if {![tags_acceptable $tags err]} {
        incr ::num_aborted
        ov_emit ignore 0 $tags $name $err
        send_data_packet $::test_server_fd ignore "$name: $err"
        return
    }
    if {[lsearch $::env(OV_SKIPSEQ) $::ov_seq] >= 0} {
        incr ::num_skipped
        send_data_packet $::test_server_fd skip "$name (hung or killed the server before)"
        return
    }
    incr ::num_tests
    set details {}
    lappend details "$name in $::curfile"
    set prev_test $::cur_test
    set ::cur_test "$name in $::curfile"
    set mark $::redis::id
    puts $::ov_progress "$::ov_seq\t[ov_clean $tags 200]\t[ov_clean $name 300]"
    catch {
        set r [redis [srv 0 host] [srv 0 port] 0 $::tls]
        catch { $r debug log "### Starting test $::cur_test" }
        $r close
    }
    send_data_packet $::test_server_fd testing $name
    set ::ov_hung 0
    set t0 [clock milliseconds]
    set ::ov_deadline [expr {$t0 + $::ov_test_ms}]
    set ec [catch {set retval [uplevel 1 $code]} error]
    set info $::errorInfo
    set ::ov_deadline 0
    set ms [expr {[clock milliseconds]-$t0}]
    if {$ec} {
        if {[string match "assertion:*" $error]} {
            set status err
            set msg [string range $error 10 end]
            if {$::ov_hung} {set status hang}
        } else {
            set status [expr {$::ov_hung ? "hang" : "exc"}]
            set msg "$error"
            lappend details $info
        }
        set details [linsert $details 1 $msg]
    } elseif {$okpattern eq "undefined" || $okpattern eq $retval || [string match $okpattern $retval]} {
        set status ok
        set msg ""
    } else {
        set status [expr {$::ov_hung ? "hang" : "err"}]
        set msg "Expected '$okpattern' to equal or match '$retval'"
        lappend details $msg
    }
    ov_emit $status $ms $tags $name $msg
    if {$status eq "ok"} {
        incr ::num_passed
        send_data_packet $::test_server_fd ok $name $ms
        if {$::ov_hung} {ov_recover $mark}
    } else {
        incr ::num_failed
        lappend ::tests_failed $details
        send_data_packet $::test_server_fd err [join $details "\n"]
        if {$status eq "err"} {ov_close_since $mark}
        ov_recover $mark
    }
    set ::cur_test $prev_test
}

# Blocks: one top-level command at a time.
proc ov_split {script} {
    set cmds {}
    set cur ""
    foreach line [split $script "\n"] {
        append cur $line "\n"
        if {[regexp {(\\+)$} $line _ bs] && [string length $bs] % 2} continue
        if {[info complete $cur]} {
            if {[string trim $cur] ne ""} {lappend cmds $cur}
            set cur ""
        }
    }
    if {[string trim $cur] ne ""} {lappend cmds $cur}
    return $cmds
}
# a script whose commands fail one by one
proc ov_wrap {script} {
    set out ""
    foreach cmd [ov_split $script] {
        set t [string trim $cmd]
        if {[string index $t 0] eq "#"} continue
        append out "set ov__m \$::redis::id; set ov__t \$::tags\n"
        append out "set ov__c \[catch {\n[ov_loop $cmd]} ov__e\]\n"
        append out "if {\$ov__c == 1} {set ::tags \$ov__t; ov_block_failed [list $t] \$ov__e \$ov__m}\n"
        append out "if {\$ov__c == 2} {return \$ov__e}\nif {\$ov__c == 3} break\nif {\$ov__c == 4} continue\n"
    }
    return $out
}
# a foreach that holds tests runs its body through ov_wrap
proc ov_loop {cmd} {
    set t [string trimleft $cmd]
    if {[string match "foreach *" $t] && [ov_count_tests $cmd]} {
        return "ov_foreach [string range $t 8 end]"
    }
    return $cmd
}
proc ov_foreach {args} {
    uplevel 1 [list foreach {*}[lrange $args 0 end-1] [ov_wrap [lindex $args end]]]
}
proc ov_block_failed {cmd error mark} {
    set head [string trim [string range [string trim $cmd] 0 160]]
    ov_emit blockexc 0 $::tags "<between tests> $head" $error
    send_data_packet $::test_server_fd err "(between tests, $::curfile) $head\n$error"
    ov_recover $mark
}
proc execute_test_file __testname {
    set path "tests/$__testname.tcl"
    set ::curfile $path
    set __fp [open $path r]; set __txt [read $__fp]; close $__fp
    foreach __cmd [ov_split $__txt] {
        set __mark $::redis::id
        set __depth [llength $::servers]
        set __tags $::tags
        if {[catch {eval [ov_loop $__cmd]} __e]} {
            set ::tags $__tags
            ov_block_failed $__cmd $__e $__mark
        }
    }
    ov_emit done 0 {} $__testname ""
    send_data_packet $::test_server_fd done "$__testname"
}
proc tags {tags code} {
    set tags [string map { \" "" } $tags]
    set ::tags [concat $::tags $tags]
    if {![tags_acceptable $::tags err]} {
        incr ::num_aborted
        incr ::ov_seq
        ov_emit ignoreblock 0 $::tags "<tags block>" "$err ([ov_count_tests $code] test commands)"
        send_data_packet $::test_server_fd ignore $err
        set ::tags [lrange $::tags 0 end-[llength $tags]]
        return
    }
    set here $::tags
    foreach cmd [ov_split $code] {
        set mark $::redis::id
        if {[catch {uplevel 1 [ov_loop $cmd]} e]} {
            set ::tags $here
            ov_block_failed $cmd $e $mark
        }
    }
    set ::tags [lrange $::tags 0 end-[llength $tags]]
}
proc ov_count_tests {code} {
    return [regexp -all -line {^\s*test\s+[\{"]} $code]
}
rename tags_acceptable ov_orig_tags_acceptable
proc tags_acceptable {tags err_return} {
    upvar 1 $err_return err
    if {$::ov_force} {
        set tags [lsearch -all -inline -not -exact $tags external:skip]
    }
    return [ov_orig_tags_acceptable $tags err]
}
proc ov_setup {what script} {
    set ::ov_hung 0
    if {[catch {uplevel 1 $script} e]} {
        ov_emit setup 0 $::tags "<harness> $what" $e
        send_data_packet $::test_server_fd err "(harness) $what\n$e"
        ov_recover $::redis::id
        return 0
    }
    return 1
}
proc run_external_server_test {code overrides} {
    set srv {}
    dict set srv "host" $::host
    dict set srv "port" $::port
    if {[catch {set client [redis $::host $::port 0 $::tls]} e]} {
        ov_emit dead 0 $::tags "<harness> connect" $e
        catch {send_data_packet $::test_server_fd exception "OV-DEAD connect: $e"}
        exit 3
    }
    dict set srv "client" $client
    dict set srv "config" [dict create port $::port]
    lappend ::servers $srv
    if {!$::singledb} { ov_setup "SELECT 9" {r select 9} }
    if {$::ov_force} {catch {r replicaof no one}}
    ov_setup "FLUSHALL" {r flushall}
    ov_setup "FUNCTION FLUSH" {r function flush}
    set saved_config {}
    ov_setup "CONFIG GET *" {
        foreach {param val} [r config get *] { dict set saved_config $param $val }
    }
    foreach {param val} $overrides {
        if {[ov_setup "CONFIG SET $param {$val}" {
            if {![dict exists $saved_config $param]} {
                catch {dict set saved_config $param [lindex [r config get $param] 1]}
            }
            r config set $param $val
        }]} {
            if {$param == "appendonly" && $val == "yes"} {
                ov_setup "INFO aof_rewrite_in_progress" {waitForBgrewriteaof r}
            }
        }
    }
    set here $::tags
    foreach cmd [ov_split $code] {
        set mark $::redis::id
        if {[catch {uplevel 2 [ov_loop $cmd]} e]} {
            set ::tags $here
            ov_block_failed $cmd $e $mark
        }
    }
    dict for {param val} $saved_config {
        catch {r config set $param $val}
    }
    set srv [lpop ::servers]
    if {[dict exists $srv "client"]} {
        [dict get $srv "client"] close
    }
}
# a start_server block that is filtered out: count what went with it
set ov_b [info body start_server]
set ov_b [string map [list {send_data_packet $::test_server_fd ignore $err
        set ::tags} {send_data_packet $::test_server_fd ignore $err
        incr ::ov_seq
        ov_emit ignoreblock 0 $::tags "<start_server block>" "$err ([ov_count_tests $code] test commands)"
        set ::tags}] $ov_b]
proc start_server {options {code undefined}} $ov_b

# procs of a unit that hold tests (zset's "basics", set's create_...): the same
rename proc ov_proc
ov_proc proc {name args body} {
    if {![string match "::*" $name] && ![string match "ov_*" $name] && [ov_count_tests $body] &&
        [lsearch {test tags start_server} $name] < 0} {
        set body [ov_wrap $body]
    }
    uplevel 1 [list ov_proc $name $args $body]
}
