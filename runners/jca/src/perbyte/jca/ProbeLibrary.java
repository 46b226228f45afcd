package perbyte.jca;

import java.util.List;
import java.util.stream.Collectors;
import perbyte.jca.loops.ProbeEmpty;
import perbyte.jca.loops.ProbeImul;
import perbyte.sdk.Library;
import perbyte.sdk.Row;

/**
 * No library, but loops of known cost, which all runners of Java list. Alone it is what bench/jmh/agree.py asks whether
 * the Java runner reads true.
 */
final class ProbeLibrary extends Library {
    static final String RUNNER = "jca-probe";

    private static final List<Row> ROWS = List.of(
            new Row("probe-empty", "run", "stream/1", "out[i & 15] = i", ProbeEmpty.class, null),
            new Row("probe-imul", "run", "stream/1", "x *= x, size times", ProbeImul.class, null)
                    .lengths(0, 0, 1, Long.BYTES));

    @Override
    public String runner() {
        return RUNNER;
    }

    @Override
    public String name() {
        return "Perbyte reference";
    }

    @Override
    public String version() {
        return "1 on " + System.getProperty("java.vm.version");
    }

    @Override
    public String license() {
        return "Apache-2.0";
    }

    @Override
    public String object() {
        return System.getProperty("java.class.path");
    }

    @Override
    public String cpuFeatures() {
        return "";
    }

    @Override
    public List<Row> rows() {
        return ROWS;
    }

    @Override
    public List<Row> rows(String algorithm) {
        return probes(algorithm);
    }

    static List<Row> probes(String algorithm) {
        return ROWS.stream().filter(row -> row.algorithm.equals(algorithm)).collect(Collectors.toList());
    }
}
