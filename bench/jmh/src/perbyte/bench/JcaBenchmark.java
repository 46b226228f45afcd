package perbyte.bench;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.Provider;
import java.security.Security;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.IvParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** The same JCA calls that runners/jca times, each in JVMs of its own, in nanoseconds per call. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class JcaBenchmark {

    private static byte[] data(int size) {
        byte[] data = new byte[size];
        new Random(7).nextBytes(data);
        return data;
    }

    /** SHA-256 of 256 bytes, provider SUN. */
    @State(Scope.Thread)
    public static class Sha256 {
        MessageDigest digest;
        byte[] in;

        @Setup
        public void prepare() throws GeneralSecurityException {
            digest = MessageDigest.getInstance("SHA-256", Security.getProvider("SUN"));
            in = data(256);
        }
    }

    @Benchmark
    public byte[] sha256(Sha256 state) {
        return state.digest.digest(state.in);
    }

    /** MD5 of 128 bytes, provider SUN. */
    @State(Scope.Thread)
    public static class Md5 {
        MessageDigest digest;
        byte[] in;

        @Setup
        public void prepare() throws GeneralSecurityException {
            digest = MessageDigest.getInstance("MD5", Security.getProvider("SUN"));
            in = data(128);
        }
    }

    @Benchmark
    public byte[] md5(Md5 state) {
        return state.digest.digest(state.in);
    }

    /** Tiger of 512 bytes, Bouncy Castle. */
    @State(Scope.Thread)
    public static class Tiger {
        MessageDigest digest;
        byte[] in;

        @Setup
        public void prepare() throws GeneralSecurityException {
            digest = MessageDigest.getInstance("Tiger", new BouncyCastleProvider());
            in = data(512);
        }
    }

    @Benchmark
    public byte[] tiger(Tiger state) {
        return state.digest.digest(state.in);
    }

    /** AES-128-CTR of 8 KiB as an endless message, SunJCE. */
    @State(Scope.Thread)
    public static class AesCtr {
        Cipher cipher;
        byte[] in;
        byte[] out;

        @Setup
        public void prepare() throws GeneralSecurityException {
            cipher = Cipher.getInstance("AES/CTR/NoPadding", Security.getProvider("SunJCE"));
            cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(data(16), "AES"), new IvParameterSpec(data(16)));
            in = data(8192);
            out = new byte[8192];
        }
    }

    @Benchmark
    public int aesCtr(AesCtr state) throws GeneralSecurityException {
        return state.cipher.update(state.in, 0, state.in.length, state.out, 0);
    }

    /** AES-128-GCM of a whole message of 1 KiB with a new nonce and 16 bytes of additional data, SunJCE. */
    @State(Scope.Thread)
    public static class AesGcm {
        final GCMParameterSpec[] specs = new GCMParameterSpec[16];
        Cipher cipher;
        SecretKeySpec key;
        byte[] in;
        byte[] out;
        byte[] aad;
        int turn;

        @Setup
        public void prepare() throws GeneralSecurityException {
            cipher = Cipher.getInstance("AES/GCM/NoPadding", Security.getProvider("SunJCE"));
            key = new SecretKeySpec(data(16), "AES");
            in = data(1024);
            out = new byte[1024 + 16];
            aad = data(16);
            for (int i = 0; i < specs.length; i++) {
                byte[] nonce = data(12);
                nonce[0] = (byte) i;
                specs[i] = new GCMParameterSpec(128, nonce);
            }
        }
    }

    @Benchmark
    public int aesGcm(AesGcm state) throws GeneralSecurityException {
        Cipher cipher = state.cipher;
        cipher.init(Cipher.ENCRYPT_MODE, state.key, state.specs[state.turn++ & 15]);
        cipher.updateAAD(state.aad);
        return cipher.doFinal(state.in, 0, state.in.length, state.out, 0);
    }
}
